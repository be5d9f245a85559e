// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/hardware_away.hpp - components whose hardware cannot be seen: what can be planned of those that are
// installed, and the error of those that cannot be left out.
#pragma once

#include <string>
#include <vector>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// The component is installed, and the run asks for something else of it than what is in force: a rollback, or a spec
/// that was changed. Its files have to follow, whether its hardware is there or not.
/// @param owned  what is recorded of it; null: nothing
bool asks_for_other_files(const PlannedRun& run, const std::string& component, const Ownership* owned);

/// The plan, made as if the hardware were there, for a machine that does not have it now: what outlives a boot stands
/// in it. Everything else (modules, device nodes, the component's own actions, files below /run) stays as it is
/// recorded, but for what only waits for a reboot.
Plan without_hardware(const Plan& plan, const Ownership& owned, const std::string& why_away);

/// What to do where no device can be seen in an image.
inline constexpr const char* kAssumeHardware =
    "write `hardware: assume`, or leave the key out, which is the same in an image; `expect` in the spec makes a "
    "machine "
    "that boots it without its GPUs fail its verify";

/// What to do where components have nothing here, and the spec says `hardware: require`.
std::string require_remedy(const Session& session, const std::vector<std::string>& components);

/// Where the hardware is taken for granted, what the spec asks for is installed or fails: it is never left out
/// silently.
Error not_installable(const Session& session, const std::vector<std::string>& components, const Facts& facts);

/// Components that cannot be installed for the same reason get one error, which names all of them.
void name_all_not_installable(const Session& session, PlannedRun& run);

}  // namespace slipway::core
