// SPDX-License-Identifier: Apache-2.0
// core/engine/unit/boot_unit.hpp - the one unit of slipway's own: at boot it does what only a running machine can do.
// An image needs it to be finished, a machine because loaded modules and device nodes do not outlive a boot.
#pragma once

#include "core/engine/plan/planned.hpp"
#include "core/engine/session.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

/// The core's own component, beside those of the spec.
inline constexpr const char* kBootComponent = "slipway-boot";

/// It belongs to this root: offline always, live once it is there.
bool wants_boot_unit(const Session& session, const std::map<std::string, Ownership>& owned);
/// A component's plan has modules to be loaded or device nodes, so that a live machine wants the unit too.
bool is_lost_at_a_boot(const Plan& plan);

/// The plan of slipway-boot.service: enabled, before the units that the spec's components name (`boot_before`).
Plan boot_plan(const Session& session, const HostSpec& spec);

}  // namespace slipway::core
