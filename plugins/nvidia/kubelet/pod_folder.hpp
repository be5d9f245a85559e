// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/pod_folder.hpp - the folders that kubelet creates in /var/log/pods, a NAMESPACE_NAME_UID for
// each pod: they give a pod's name by its UID without a call. That folder is root's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::nvidia::kubelet {

struct PodFolder {
  std::string pod_namespace;
  std::string name;
  std::string uid;  ///< as in the control groups' names: for a static pod a hash without dashes
};

/// Empty: not the name of such a folder. Names of namespaces and pods never contain an underscore.
std::optional<PodFolder> parse_pod_folder(std::string_view folder);

/// Returns this machine's pod folders; empty without a kubelet.
std::vector<PodFolder> pod_folders(const Host& host);

/// Returns the pod with that UID; null: there is none.
const PodFolder* find_pod(const std::vector<PodFolder>& folders, std::string_view uid);

}  // namespace slipway::nvidia::kubelet
