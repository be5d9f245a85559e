// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/process/other_program.hpp - a program of NVIDIA's that does the work of a slipway component on the
// same machine: how it is found, named and removed, and the values of the key that decides about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/process/process.hpp"

namespace slipway::nvidia {

/// The values of `other_manager` and `other_plugin`: only report it, leave the GPUs to it, or disable its unit.
enum class OtherProgramPolicy { report, yield, take_over };
OtherProgramPolicy other_program_policy(std::string_view word);
std::string to_string(OtherProgramPolicy policy);

struct OtherProgram {
  std::string file;   ///< "nvidia-mig-manager": its name, and that of its process
  std::string title;  ///< "NVIDIA's MIG manager"
  /// The label that makes the GPU operator leave it off a node, and the ClusterPolicy key that does so for all nodes.
  std::string label;
  std::string operator_key;
};

/// True when the unit is enabled and not masked. @param targets  units that may want it
bool is_unit_enabled(const Host& host, const std::string& unit, const std::vector<std::string>& targets);

/// Finds processes with its name, and with its program if this user may read that. A process chooses its own name: the
/// caller checks for properties that only such a program has. Checks at most 65536 processes.
std::vector<Process> find_program(const Host& host, const OtherProgram& program);

/// True when a process runs as root with the rights of a privileged container, or as this user.
bool may_change_gpus(const Host& host, unsigned pid);
/// True when a process runs as root in this process' user namespace.
bool is_root(const Host& host, unsigned pid);

/// "NVIDIA's MIG manager (pid 4711, pod gpu-operator/nvidia-mig-manager-x7k2p, container nvidia-mig-manager)".
std::string program_text(const OtherProgram& program, const Process& process);
/// Returns how to remove it from the node: by a label, if it is a pod.
std::string how_to_end_program(const OtherProgram& program, const Process& process);

}  // namespace slipway::nvidia
