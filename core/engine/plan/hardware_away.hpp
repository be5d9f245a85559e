// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/hardware_away.hpp - components whose hardware is not visible: plans what is possible for installed
// ones, and reports an error for those that must not be skipped.
#pragma once

#include <string>
#include <vector>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// True when the component is installed and the run asks for something other than the active generation: a rollback, or
/// a changed spec. Its files have to follow even when its hardware is missing.
/// @param owned  the component's record; null: none
bool asks_for_other_files(const PlannedRun& run, const std::string& component, const Ownership* owned);

/// Returns the part of a plan that survives a boot; the plan was made as if the missing hardware were present.
/// Everything else (modules, device nodes, the component's own actions, files below /run) stays as recorded, except for
/// work that only waits for a reboot.
Plan without_hardware(const Plan& plan, const Ownership& owned, const std::string& missing_reason);

/// The remedy when no device is visible in an image.
inline constexpr const char* kAssumeHardware =
    "write `hardware: assume`, or leave the key out, which is the same in an image; with `expect` in the spec, "
    "`slipway verify` fails on a machine that boots it without its GPUs";

/// The remedy when components have no hardware here and the spec says `hardware: require`.
std::string remedy_for_required_hardware(const Session& session, const std::vector<std::string>& components);

/// Returns the error for components that cannot be installed although the spec says that the hardware exists. They are
/// installed or fail; they are never skipped silently.
Error not_installable(const Session& session, const std::vector<std::string>& components, const Facts& facts);

/// Gives components that cannot be installed for the same reason one error that names all of them.
void name_all_not_installable(const Session& session, PlannedRun& run);

}  // namespace slipway::core
