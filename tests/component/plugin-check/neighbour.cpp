// SPDX-License-Identifier: Apache-2.0
// tests/component/plugin-check/neighbour.cpp - a plugin that is installed beside the one that is checked.
#include <slipway/plugin.hpp>

namespace slipway::neighbour {

constexpr const char* kSuppliedFile = "/etc/supplied/with/a/name/of/its/own.conf";

class Neighbour final : public Component {
 public:
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override {
    Plan plan;
    plan.add(action::file({.path = "/etc/neighbour.conf", .content = "a\n"}));
    plan.add(action::systemd_unit({.name = "neighbour.service", .content = "[Service]\nExecStart=/bin/true\n"}));
    return plan;
  }
};

class Supplied final : public Component {
 public:
  Result<Plan> plan(const Spec&, const Facts&, const Inputs& inputs) const override {
    SLIPWAY_TRY(catalogue, inputs.catalogue("source"));
    if (catalogue.entries.empty()) return Error{ErrorCode::needs_catalogue, "there are no packages", {}, {}, {}};
    Plan plan;
    plan.add(action::file({.path = kSuppliedFile, .content = "a\n"}));
    return plan;
  }
};

}  // namespace slipway::neighbour

SLIPWAY_PLUGIN(slipway::component<slipway::neighbour::Neighbour>("neighbour"),
               slipway::component<slipway::neighbour::Supplied>("supplied"))
