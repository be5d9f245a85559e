// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/pod_groups.hpp - the control groups that kubelet makes for pods, and those of containers in
// them.
//
// They are looked up from the top, because only root can create kubelet's own group there. So a control group of a user
// or of a container does not count, even with the name of a pod's group.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::nvidia::kubelet {

/// Reads the UID in the name of a pod's control group, at any place; empty: the name has another form.
std::string pod_uid_in(std::string_view name);

/// Reads the container's id in the name of a control group: "cri-containerd-ID.scope", "ID"; empty: the name has
/// another form.
std::string container_id_in(std::string_view name);

/// True for the parent of all pods' control groups: "kubepods", "kubepods.slice", "kubelet-kubepods.slice".
bool is_group_of_pods(std::string_view name);

struct PodGroups {
  bool visible = false;                           ///< kubelet's group of all pods was found
  std::map<std::string, std::string> by_pod_uid;  ///< folder of the control group
};

inline constexpr std::size_t kMostPodGroups = 4096;

/// Reads the groups of this machine, at most kMostPodGroups.
PodGroups read_pod_groups(const Host& host);

/// Returns the ids of the running containers, which have a control group there. @param group  folder of the pod's group
std::vector<std::string> containers_in(const Host& host, const std::string& group);

}  // namespace slipway::nvidia::kubelet
