// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/pod_processes.hpp - which pod a process belongs to, from kubelet's control groups.
//
// They are looked through from the top: kubelet's own is where only root can make one, so a control group of a user or
// of a container that has the name of a pod's is none. The service also may not see other users' processes in /proc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// Which pods the processes of the entities belong to; pods have their names from kubelet's folders of logs. Where
/// there are no such folders or control groups, Entity::processes is emptied: nobody knows.
void find_pods_of_processes(const Host& host, std::vector<Entity>& entities);

using PodNames = std::map<std::string, std::string, std::less<>>;
/// "namespace/pod" by UID, by kubelet's folders of logs.
PodNames names_of_pods(const Host& host);

/// The UIDs of pods by process id: of these pods alone. At most 4096 control groups are looked at.
std::map<unsigned, std::string> pods_by_process(const Host& host, const PodNames& pods);

}  // namespace slipway::dcgm
