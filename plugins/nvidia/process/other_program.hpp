// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/process/other_program.hpp - a program of NVIDIA's that does the work of a component of slipway's on
// the same machine: how it is found, named and taken away, and the words of the key that says what is made of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/process/process.hpp"

namespace slipway::nvidia {

/// The words of `other_manager` and `other_plugin`: it is named, the GPUs are left to it, or its unit is taken away.
enum class OtherProgramPolicy { report, yield, take_over };
OtherProgramPolicy other_program_policy(std::string_view word);
std::string to_string(OtherProgramPolicy policy);

struct OtherProgram {
  std::string file;   ///< "nvidia-mig-manager": its name, and that of its process
  std::string title;  ///< "NVIDIA's MIG manager"
  /// How the GPU operator is told to leave it off a node, and off all: the label and the key of its ClusterPolicy.
  std::string label;
  std::string operator_key;
};

/// The unit is enabled and not masked. @param targets  that may want it
bool is_unit_enabled(const Host& host, const std::string& unit, const std::vector<std::string>& targets);

/// Processes that have its name, and its program where this user may see that. A process has the name that it gives
/// itself: the caller looks for what only such a program has. At most 65536 processes are looked at.
std::vector<Process> find_program(const Host& host, const OtherProgram& program);

/// A process is root's with the rights of a privileged container, or this user's own.
bool may_change_gpus(const Host& host, unsigned pid);
/// A process is root's, as this process sees users.
bool is_root(const Host& host, unsigned pid);

/// "NVIDIA's MIG manager (pid 4711, pod gpu-operator/nvidia-mig-manager-x7k2p, container nvidia-mig-manager)".
std::string program_text(const OtherProgram& program, const Process& process);
/// How it is taken from the node: by a label, where it is a pod.
std::string how_to_end_program(const OtherProgram& program, const Process& process);

}  // namespace slipway::nvidia
