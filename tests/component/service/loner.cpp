// SPDX-License-Identifier: Apache-2.0
// tests/component/service/loner.cpp - a component whose service is a program of its own; this file is in both.
#include <slipway/plugin.hpp>

#include "ticking.hpp"

namespace slipway::ticker {

class Loner final : public Component {
 public:
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override { return Plan{}; }
  Service* service() override { return &service_; }

 private:
  Ticking service_;
};

}  // namespace slipway::ticker

SLIPWAY_PLUGIN(slipway::component<slipway::ticker::Loner>("loner"))
