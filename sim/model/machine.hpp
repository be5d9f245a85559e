// SPDX-License-Identifier: Apache-2.0
// sim/model/machine.hpp - creates the state of a simulated GPU machine, which the simulated NVML reads: GPUs, links,
// vGPU guests.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "sim/model/profile.hpp"
#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Large: lives on the heap.
using SimMachine = std::unique_ptr<sim::Machine>;

/// Returns the initial state of a profile's machine with its driver loaded.
/// @param folders  folders with models/; those of sim_profile_folders()
/// Errors: `not_found` a model; `invalid` more GPUs than the simulator supports, an invalid setting
Result<SimMachine> make_sim_machine(const SimProfile& profile, const std::vector<std::string>& folders);

/// Writes the state to FOLDER/machine atomically. Errors: those of the file system.
Status write_sim_machine(const sim::Machine& machine, const std::string& folder);

/// Reads FOLDER/machine. Errors: `not_found`; `invalid` not a state of this version.
Result<SimMachine> read_sim_machine(const std::string& folder);

/// Returns the path of the simulated libnvidia-ml.so.1: ../lib/slipway/sim beside the running program's folder, or the
/// installed one. Errors: `not_found`.
Result<std::string> sim_library();

/// Fills link_peers of all GPUs: from the profile's links, or all of them to switches when it has none. Errors:
/// `invalid` when a GPU has fewer links than the profile says.
Status set_sim_links(const SimProfile& profile, sim::Machine& machine);

struct SimVgpuHost {
  std::string driver_version;  ///< of the host, at most 10 characters, as "550.54.16"
  std::string branch;          ///< as "r550_40"
};

/// Reads the setting vgpu=VERSION/BRANCH; empty: it is not set, or has another form.
std::optional<SimVgpuHost> sim_vgpu_host(const SimProfile& profile);

/// Returns the vendor specific PCI capability with which a vGPU describes its host: 09, next, length, "VF", then a part
/// of id, length and the two texts, each padded to 10 bytes (NVIDIA's feature discovery reads it).
std::string sim_vgpu_record(const SimVgpuHost& host);

}  // namespace slipway::sim
