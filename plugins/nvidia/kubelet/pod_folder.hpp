// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/pod_folder.hpp - the folders that kubelet makes in /var/log/pods, a NAMESPACE_NAME_UID for
// each pod: what tells a pod's name by its UID without a question to anybody. That folder is root's.
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
  std::string uid;  ///< as the control groups have it: of a static pod a hash without dashes
};

/// Nothing: it is not a name of such a folder. Neither a namespace nor a pod's name has an underline in it.
std::optional<PodFolder> parse_pod_folder(std::string_view folder);

/// Those of this machine; empty where kubelet has none.
std::vector<PodFolder> pod_folders(const Host& host);

/// The pod with that UID; null: there is none.
const PodFolder* find_pod(const std::vector<PodFolder>& folders, std::string_view uid);

}  // namespace slipway::nvidia::kubelet
