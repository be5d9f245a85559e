// SPDX-License-Identifier: Apache-2.0
// tests/component/service/ticker.cpp - one component whose service is in the plugin, and one whose is beside it.
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

}  // namespace slipway::ticker

SLIPWAY_PLUGIN(slipway::component<slipway::ticker::Ticker>("ticker"),
               slipway::component<slipway::ticker::Planner>("neighbour"))
