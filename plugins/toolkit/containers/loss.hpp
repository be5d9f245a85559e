// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/loss.hpp - what running containers can no longer reach of the GPUs that they were given,
// why, and what helps.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

#include "toolkit/containers/kernel.hpp"
#include "toolkit/containers/running.hpp"

namespace slipway::toolkit {

enum class LossCause {
  gpu_lost,         ///< the GPU is no longer on the bus, or does not answer there
  driver_gone,      ///< no driver is loaded
  host_node_gone,   ///< the host has no such node
  renumbered,       ///< the host's node has other numbers now
  node_gone,        ///< the container has no such node
  legacy_hook,      ///< NVIDIA's hook had permitted it behind the runtime's back
  only_mounted,     ///< a node that was mounted, and no rule permits it
  scope_without,    ///< systemd's scope of the container does not permit it
  rules_rewritten,  ///< the rules do not permit it, although configuration and scope do
  other_driver,     ///< its libraries are of another version than the driver
  never_given,      ///< it asks, and nobody gave it anything
};

struct Loss {
  LossCause cause{};
  bool later = false;  ///< it is reachable now, and is no longer when systemd reloads its units
  std::string container;
  std::string what;    ///< "/dev/nvidia0 (195:0)"
  std::string scope;   ///< the container's unit; empty: none
  std::string device;  ///< "/dev/char/195:0", where its rules refuse it
};

struct Losses {
  std::vector<Loss> list;     ///< one for each container and cause, with the first node of each
  bool rules_unread = false;  ///< the kernel did not show its device rules, or they are not understood
};

/// What could not be looked at is no loss.
Losses losses_of(const RunningContainer& container, const Host& host, const ContainerKernel& kernel);

/// Findings "runtime.lost-gpu", one for each cause, and the warning "runtime.gpu-at-risk" where a reload of systemd
/// would take a GPU away; "runtime.containers" where some could not be looked at. Nothing where all is well.
void diagnose_containers(const Host& host, const ContainerKernel& kernel, Findings& findings);

}  // namespace slipway::toolkit
