// SPDX-License-Identifier: Apache-2.0
// core/engine/boot_unit.hpp - the one unit that an offline apply leaves in an image: it finishes at boot what only a
// running machine can do.
#pragma once

#include "core/engine/planned.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// The core's own component, beside those of the spec.
inline constexpr const char* kBootComponent = "slipway-boot";

/// It belongs to this root: offline always, live once an image has brought it along.
bool wants_boot_unit(const Session& session, const std::map<std::string, Ownership>& owned);

/// The plan of slipway-boot.service: enabled, before engines and kubelet.
Plan boot_plan(const Session& session);

}  // namespace slipway::core
