// SPDX-License-Identifier: Apache-2.0
// tests/component/engine/guest.cpp - a second plugin, which can be missing while the first one is there.
#include <slipway/plugin.hpp>

#ifndef GUEST_FILE
#define GUEST_FILE "/etc/guest"
#endif

namespace slipway::guest {

class Guest final : public Component {
 public:
  Result<Facts> detect(const Spec&, const Host&) const override { return Facts{}; }
  Result<Plan> plan(const Spec& spec, const Facts&, const Inputs&) const override {
    Plan plan;
    plan.add(action::file({.path = GUEST_FILE, .content = spec.text("text")}));
    return plan;
  }
  Result<Findings> verify(const Spec&, const Host&) const override { return Findings{}; }
};

}  // namespace slipway::guest

SLIPWAY_PLUGIN(slipway::component<slipway::guest::Guest>("guest"))
