// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/other_plugin.hpp - another device plugin that offers GPUs of this machine to the same kubelet,
// so that each gives out what the other has given to a pod: NVIDIA's, another slipway's in a container, or any other.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <slipway/facts.hpp>
#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "nvidia/process/other_program.hpp"

namespace slipway::deviceplugin {

using OtherPluginPolicy = nvidia::OtherProgramPolicy;

struct OtherPlugin {
  std::string text;    ///< "NVIDIA's device plugin (pid 4711, pod gpu-operator/…) offers nvidia.com/gpu.shared (32)"
  std::string remedy;  ///< how it is taken away
  std::string unit;    ///< that runs it, where an apply can stop that; else empty
  bool operator==(const OtherPlugin&) const = default;
};

/// What is known of slipway's own device plugin, to tell others from it.
struct OwnPlugin {
  std::set<std::string> resources;  ///< that it offers, or has offered: kubelet may still know them
};

/// They are known by what only a device plugin has, since a process chooses its name:
///  - the process of NVIDIA's device plugin: root's, and with kubelet's folder device-plugins among its mounts
///  - a process that listens at a socket in that folder, which only root can make
/// The GPUs that kubelet's checkpoint has under a resource that slipway does not offer say what it offers.
std::vector<OtherPlugin> find_other_plugins(const Host& host, const std::string& kubelet_root, const OwnPlugin& own);

/// A unit of the host that runs NVIDIA's device plugin.
struct OtherPluginUnit {
  std::string name;
  bool in_etc = false;  ///< its file is the administrator's own, in the place where a link would mask it
};
std::vector<OtherPluginUnit> other_plugin_units(const Host& host);

// For the component.

void add_other_plugin_units(const Host& host, Facts& facts);
void add_other_plugins(const Host& host, const std::string& kubelet_root, const OwnPlugin& own, Facts& facts);
/// Notes of the plan, and with take-over the actions that stop and mask a unit.
/// Errors: `conflict` take-over, and the other one is not a unit of this machine.
Status add_other_plugin(OtherPluginPolicy policy, const Facts& facts, Plan& plan);
/// "deviceplugin.other-plugin"
void add_other_plugin_findings(const Host& host, const std::string& kubelet_root, const OwnPlugin& own,
                               OtherPluginPolicy policy, Findings& findings);

}  // namespace slipway::deviceplugin
