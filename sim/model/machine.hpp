// SPDX-License-Identifier: Apache-2.0
// sim/model/machine.hpp - makes the state of a simulated GPU machine, which the simulated NVML answers from.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "sim/model/profile.hpp"
#include "sim/state/machine.hpp"

namespace slipway::core {

/// Big: lives on the heap.
using SimMachine = std::unique_ptr<sim::Machine>;

/// The state of a profile's machine with its driver loaded, before anything happened to it.
/// @param folders  where models/ is looked for; those of sim_profile_folders()
/// Errors: `not_found` a model; `invalid` more GPUs than the simulator has room for, a setting that makes no sense
Result<SimMachine> make_sim_machine(const SimProfile& profile, const std::vector<std::string>& folders);

/// Writes the state to FOLDER/machine, whole or not at all. Errors: of the file system.
Status write_sim_machine(const sim::Machine& machine, const std::string& folder);

/// Reads FOLDER/machine. Errors: `not_found`; `invalid` no state of this version.
Result<SimMachine> read_sim_machine(const std::string& folder);

/// The simulated libnvidia-ml.so.1: ../lib/slipway/sim beside the running program's folder, or the installed one.
/// Errors: `not_found`.
Result<std::string> sim_library();

}  // namespace slipway::core
