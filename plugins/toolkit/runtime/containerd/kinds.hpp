// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/kinds.hpp - containerd by itself, and as K3s, RKE2, k0s and MicroK8s bring it
// along.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

/// Who makes the file that containerd is started with.
enum class ConfigMaker {
  admin,     ///< nobody: keys are merged into it, or a file is put beside it
  rancher,   ///< K3s and RKE2, at every start, from a template or their own one
  k0s,       ///< k0s, from its defaults and the files of a folder
  microk8s,  ///< MicroK8s, at every start, from a file with variables
};

/// Where one kind of containerd has its things.
struct ContainerdKind {
  std::string name;   ///< as in `engines`
  std::string title;  ///< for messages
  ConfigMaker maker = ConfigMaker::admin;
  std::string config;                 ///< what containerd is started with
  std::string folder;                 ///< of the template and the drop-ins; empty for `admin`
  std::string socket;                 ///< of containerd
  std::vector<std::string> programs;  ///< where containerd is, besides the usual folders
  std::vector<std::string> units;     ///< that start it, the first that there is
  std::vector<std::string> marks;     ///< programs or folders by which one sees that it is installed
};

/// The kinds by name: "containerd", "k3s", "rke2", "k0s", "microk8s".
const std::vector<ContainerdKind>& containerd_kinds();

/// The kind of an engine's name, with what the settings say of its places. A path of a distribution in the settings of
/// plain containerd makes it that distribution: so NVIDIA's installer is told of them.
ContainerdKind containerd_kind(const std::string& name, const RuntimeSettings& settings, const Host& host);

/// The file that containerd is started with: what the running process or its unit names, else the kind's usual one. A
/// variable whose value is not known stays: "${NAME}".
std::string containerd_config(const ContainerdKind& kind, const Host& host);

bool is_installed(const ContainerdKind& kind, const Host& host);

}  // namespace slipway::toolkit
