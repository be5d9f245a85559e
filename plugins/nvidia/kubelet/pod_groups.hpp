// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/pod_groups.hpp - the control groups that kubelet makes for pods, and those of containers in
// them.
//
// They are looked up from the top: kubelet's own group is where only root can make one, so a control group of a user or
// of a container that has the name of a pod's does not count.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::nvidia::kubelet {

/// By the name of a pod's own control group, wherever it lies; empty: it is none.
std::string pod_uid_in(std::string_view name);

/// The id of a container by the name of its control group: "cri-containerd-ID.scope", "ID"; empty: it is none.
std::string container_id_in(std::string_view name);

/// The top of all pods' control groups: "kubepods", "kubepods.slice", "kubelet-kubepods.slice".
bool is_group_of_pods(std::string_view name);

struct PodGroups {
  bool visible = false;                           ///< kubelet's group of all pods was found
  std::map<std::string, std::string> by_pod_uid;  ///< folder of the control group
};

inline constexpr std::size_t kMostPodGroups = 4096;

/// Those of this machine, at most kMostPodGroups.
PodGroups read_pod_groups(const Host& host);

/// The ids of the containers that have a control group there, thus run. @param group  folder of a pod's
std::vector<std::string> containers_in(const Host& host, const std::string& group);

}  // namespace slipway::nvidia::kubelet
