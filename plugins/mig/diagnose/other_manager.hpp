// SPDX-License-Identifier: Apache-2.0
// plugins/mig/diagnose/other_manager.hpp - NVIDIA's own MIG manager: a unit that gives the GPUs a layout at each boot,
// or a program that does so whenever the labels of the node ask for it, in a container of the GPU operator.
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

/// nvidia-mig-manager as it runs now, whose unit has no such program. A process has the name that it gives itself, so
/// that it counts only where it could change a GPU as slipway can: it is root's, with the rights of a privileged
/// container, or this user's own. At most 65536 processes are looked at.
std::optional<nvidia::Process> running_manager(const Host& host);

/// "NVIDIA's MIG manager (pid 4711, pod gpu-operator/nvidia-mig-manager-x7k2p, container nvidia-mig-manager)".
std::string manager_text(const nvidia::Process& manager);
/// How it is taken from the node: by a label, where it is a pod.
std::string how_to_end_manager(const nvidia::Process& manager);
/// Two of them would change the layouts of one another, and a pod cannot be taken over. @param word  of other_manager
Error refused_beside(const nvidia::Process& manager, const std::string& word);

///   mig.other-manager  NVIDIA's MIG manager, which gives the GPUs other layouts
/// @param file  of configs, which may be in that manager's folder; empty: none
void diagnose_other_manager(const Host& host, const std::string& file, Findings& findings);

}  // namespace slipway::mig
