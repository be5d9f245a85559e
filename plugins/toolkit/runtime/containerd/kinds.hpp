// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/kinds.hpp - containerd by itself, and as K3s, RKE2, k0s and MicroK8s bring it
// along.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

/// The program that writes containerd's configuration.
enum class ConfigMaker {
  admin,     ///< none: keys are merged into it, or a file is put beside it
  rancher,   ///< K3s and RKE2, at every start, from a template or their default
  k0s,       ///< k0s, from its defaults and the files of a folder
  microk8s,  ///< MicroK8s, at every start, from a file with variables
};

/// The places of one kind of containerd.
struct ContainerdKind {
  std::string name;   ///< as in `engines`
  std::string title;  ///< for messages
  ConfigMaker maker = ConfigMaker::admin;
  std::string config;                 ///< containerd's configuration file
  std::string folder;                 ///< of the template and the drop-ins; empty for `admin`
  std::string socket;                 ///< of containerd
  std::vector<std::string> programs;  ///< places of containerd besides the usual folders
  std::vector<std::string> units;     ///< units that start it; the first existing one counts
  std::vector<std::string> marks;     ///< programs or folders that show that it is installed
};

/// The kinds by name: "containerd", "k3s", "rke2", "k0s", "microk8s".
const std::vector<ContainerdKind>& containerd_kinds();

/// Returns the kind of an engine's name, with the places from the settings. A distribution's path in the settings of
/// plain containerd selects that distribution, as in the settings of NVIDIA's installer.
ContainerdKind containerd_kind(const std::string& name, const RuntimeSettings& settings, const Host& host);

/// Returns containerd's configuration file: from the running process or its unit, else the kind's usual one. A variable
/// with an unknown value stays: "${NAME}".
std::string containerd_config(const ContainerdKind& kind, const Host& host);

bool is_installed(const ContainerdKind& kind, const Host& host);

}  // namespace slipway::toolkit
