// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/pod_processes.hpp - the pod that a process belongs to, from kubelet's control groups.
//
// They are searched from the top: only root can create a group beside kubelet's own, so a user's or a container's
// control group with the name of a pod's does not count. The service also may not see other users' processes in /proc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// Finds the pods of the entities' processes, with names from kubelet's log folders. Without such folders or control
/// groups it clears Entity::processes, which means unknown.
void find_pods_of_processes(const Host& host, std::vector<Entity>& entities);

using PodNames = std::map<std::string, std::string, std::less<>>;
/// Returns "namespace/pod" by UID, from kubelet's log folders.
PodNames names_of_pods(const Host& host);

/// Returns the pods' UIDs by process id, for these pods only. Reads at most 4096 control groups.
std::map<unsigned, std::string> pods_by_process(const Host& host, const PodNames& pods);

}  // namespace slipway::dcgm
