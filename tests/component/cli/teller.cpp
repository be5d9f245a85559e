// SPDX-License-Identifier: Apache-2.0
// tests/component/cli/teller.cpp - a component whose tool reports progress, with other events in between.
#include <slipway/commands.hpp>
#include <slipway/plugin.hpp>

namespace slipway::teller {

constexpr std::uint64_t kMiB = 1 << 20;

class Tools final : public Commands {
 public:
  std::vector<ToolInfo> list() const override { return {{"work", "works", {}}}; }
  Result<int> run(std::string_view, const CommandWords&, const Host&, ToolIo& io) const override {
    const std::string step = "unpack a layer with a name for which no terminal has room";
    io.progress(step + ": a", 0, 300 * kMiB);
    io.progress(step + ": b", 100 * kMiB, 300 * kMiB);
    io.warn("half way");
    io.progress(step + ": c", 200 * kMiB, 300 * kMiB);
    io.progress(step, 300 * kMiB, 300 * kMiB);
    io.progress("packing", 5 * kMiB, 0);
    return 0;
  }
};

class Teller final : public Component {
 public:
  Result<Facts> detect(const Spec&, const Host&) const override { return Facts(); }
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override { return Plan(); }
  const Commands* commands() const override { return &tools_; }

 private:
  Tools tools_;
};

}  // namespace slipway::teller

SLIPWAY_PLUGIN(slipway::component<slipway::teller::Teller>("teller"))
