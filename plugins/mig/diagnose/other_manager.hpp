// SPDX-License-Identifier: Apache-2.0
// plugins/mig/diagnose/other_manager.hpp - NVIDIA's own MIG manager: a unit that gives the GPUs a layout at each boot,
// or a program in a container of the GPU operator that does so whenever the labels of the node request it.
#pragma once

#include <optional>
#include <string>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/process/process.hpp"

namespace slipway::mig {

/// The unit is enabled and not masked.
bool is_other_manager_enabled(const Host& host);

/// Finds a running nvidia-mig-manager. A process chooses its own name, so it counts only if it can change a GPU as
/// slipway can: it runs as root with the rights of a privileged container, or as this user. Checks at most 65536
/// processes.
std::optional<nvidia::Process> running_manager(const Host& host);

/// "NVIDIA's MIG manager (pid 4711, pod gpu-operator/nvidia-mig-manager-x7k2p, container nvidia-mig-manager)".
std::string manager_text(const nvidia::Process& manager);
/// Returns how to remove it from the node: by a label, if it is a pod.
std::string how_to_end_manager(const nvidia::Process& manager);
/// The error because two managers would change each other's layouts, and a pod cannot be taken over. @param word  value
/// of other_manager
Error other_manager_error(const nvidia::Process& manager, const std::string& word);

///   mig.other-manager  NVIDIA's MIG manager, which would change the layouts
/// @param file  file of configs, which may be in that manager's folder; empty: none
void diagnose_other_manager(const Host& host, const std::string& file, Findings& findings);

}  // namespace slipway::mig
