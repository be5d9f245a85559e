// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/loss.hpp - the GPUs that running containers can no longer reach although they were given
// them, with the reason and the remedy.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

#include "toolkit/containers/kernel.hpp"
#include "toolkit/containers/running_containers.hpp"

namespace slipway::toolkit {

enum class LossCause {
  gpu_lost,         ///< the GPU is no longer on the bus, or does not answer
  driver_gone,      ///< no driver is loaded
  host_node_gone,   ///< the host's node is missing
  renumbered,       ///< the host's node has other numbers now
  node_gone,        ///< the container's node is missing
  legacy_hook,      ///< NVIDIA's hook had permitted it without the runtime
  only_mounted,     ///< the node was mounted, but no rule permits it
  scope_without,    ///< systemd's scope of the container does not permit it
  rules_rewritten,  ///< the rules do not permit it, but configuration and scope do
  other_driver,     ///< its libraries have another version than the driver
  never_given,      ///< it asks for GPUs, and got none
};

struct Loss {
  LossCause cause{};
  bool later = false;  ///< it can be used now, but not after systemd reloads its units
  std::string container;
  std::string what;    ///< "/dev/nvidia0 (195:0)"
  std::string scope;   ///< the container's scope; empty: none
  std::string device;  ///< "/dev/char/195:0", if its rules deny it
};

struct Losses {
  std::vector<Loss> list;     ///< one for each container and cause, with the first node of each
  bool rules_unread = false;  ///< the kernel did not show its device rules, or they are not supported
};

/// Devices that could not be checked are not reported.
Losses losses_of(const RunningContainer& container, const Host& host, const ContainerKernel& kernel);

/// Adds "runtime.lost-gpu" for each cause, the warning "runtime.gpu-at-risk" if a reload of systemd would remove a GPU,
/// and "runtime.containers" if some containers could not be checked. Adds nothing if all is well.
void diagnose_containers(const Host& host, const ContainerKernel& kernel, Findings& findings);

}  // namespace slipway::toolkit
