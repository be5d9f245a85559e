// SPDX-License-Identifier: Apache-2.0
// sim/model/machine.hpp - makes the state of a simulated GPU machine, which the simulated NVML answers from: GPUs,
// links, vGPU guests.
#pragma once

#include <map>
#include <memory>
#include <optional>
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

/// Fills link_peers of all GPUs: as the profile's links say, or all of them to switches when it has none.
/// Errors: `invalid` when a GPU has fewer links than the profile says.
Status set_sim_links(const SimProfile& profile, sim::Machine& machine);

struct SimVgpuHost {
  std::string driver_version;  ///< of the host, at most 10 characters, as "550.54.16"
  std::string branch;          ///< as "r550_40"
};

/// What the setting vgpu=VERSION/BRANCH says; empty: there is none, or it is not of this form.
std::optional<SimVgpuHost> sim_vgpu_host(const SimProfile& profile);

/// The vendor specific PCI capability by which a vGPU tells its host: 09, next, length, "VF", then a part of id, length
/// and the two texts, each padded to 10 bytes (what NVIDIA's feature discovery reads).
std::string sim_vgpu_record(const SimVgpuHost& host);

}  // namespace slipway::core
