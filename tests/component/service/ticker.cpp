// SPDX-License-Identifier: Apache-2.0
// tests/component/service/ticker.cpp - one component whose service is in the plugin, and one whose is beside it.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <slipway/plugin.hpp>

#include "ticking.hpp"

namespace slipway::ticker {

class Planner : public Component {
 public:
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override { return Plan{}; }
};

class Ticker final : public Planner {
 public:
  Service* service() override { return &service_; }

 private:
  Ticking service_;
};

/// Changes a device that services use. The marker represents the device.
class Changer final : public Component {
 public:
  Result<Plan> plan(const Spec& spec, const Facts&, const Inputs&) const override {
    Plan plan;
    Json data{{"how", spec.text("how")}, {"marker", spec.text("marker")}};
    plan.add(action::custom({.name = "change",
                             .data = std::move(data),
                             .inverse = nullptr,
                             .irreversible = "a test",
                             .exclusives = {"gpu-2", "gpu-1"},
                             .quiesces_services = true}));
    return plan;
  }
  Result<bool> check(const Action& action, const Host&) const override {
    return std::filesystem::exists(of(action, "marker"));
  }
  Result<Outcome> apply(const Action& action, const Host&) const override {
    const std::string marker = of(action, "marker");
    std::ofstream(marker + ".begun") << "begun";
    while (!std::filesystem::exists(marker + ".go")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (of(action, "how") == "fails") return Error{ErrorCode::busy, "the change was told to fail", {}, "expect it", {}};
    std::ofstream(marker) << "done";
    return Outcome::done();
  }

 private:
  static std::string of(const Action& action, const char* key) { return action.value("data").value(key, ""); }
};

}  // namespace slipway::ticker

SLIPWAY_PLUGIN(slipway::component<slipway::ticker::Ticker>("ticker"),
               slipway::component<slipway::ticker::Planner>("neighbour"),
               slipway::component<slipway::ticker::Changer>("changer"))
