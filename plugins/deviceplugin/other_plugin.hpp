// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/other_plugin.hpp - another device plugin that offers GPUs of this machine to the same kubelet,
// so that both can allocate the same GPU: NVIDIA's, another slipway's in a container, or any other.
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
  std::string remedy;  ///< how to remove it
  std::string unit;    ///< the unit that runs it, if an apply can stop it; else empty
  bool operator==(const OtherPlugin&) const = default;
};

/// Facts about slipway's own device plugin, to distinguish it from others.
struct OwnPlugin {
  std::set<std::string> resources;  ///< resources that it offers or has offered: kubelet may still know them
};

/// Finds device plugins by properties that a process cannot fake, since it chooses its own name:
///  - the process of NVIDIA's device plugin: run by root, and with kubelet's folder device-plugins among its mounts
///  - a process that listens at a socket in that folder, which only root can make
/// Its resources are those in kubelet's checkpoint that have GPUs and that slipway does not offer.
std::vector<OtherPlugin> find_other_plugins(const Host& host, const std::string& kubelet_root, const OwnPlugin& own);

/// A unit of the host that runs NVIDIA's device plugin.
struct OtherPluginUnit {
  std::string name;
  bool in_etc = false;  ///< the administrator's own unit file is at the place where masking would put its link
};
std::vector<OtherPluginUnit> other_plugin_units(const Host& host);

// For the component.

void add_other_plugin_units(const Host& host, Facts& facts);
void add_other_plugins(const Host& host, const std::string& kubelet_root, const OwnPlugin& own, Facts& facts);
/// Adds notes to the plan, and for take-over the actions that stop and mask a unit. Errors: `conflict` take-over was
/// requested, but the other plugin is not a unit of this machine.
Status add_other_plugin(OtherPluginPolicy policy, const Facts& facts, Plan& plan);
/// "deviceplugin.other-plugin"
void add_other_plugin_findings(const Host& host, const std::string& kubelet_root, const OwnPlugin& own,
                               OtherPluginPolicy policy, Findings& findings);

}  // namespace slipway::deviceplugin
