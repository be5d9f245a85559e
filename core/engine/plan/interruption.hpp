// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/interruption.hpp - what a plan interrupts on a machine.
#pragma once

#include <vector>

#include <slipway/host.hpp>

#include "core/engine/model/planned.hpp"

namespace slipway::core {

/// Returns the most that a change of these components interrupts, and why.
Interruption interruption_of(const std::vector<PlannedComponent>& components, const Host& host);

}  // namespace slipway::core
