// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/pod_traces.hpp - the traces of a pod on this machine besides kubelet's answer: its control
// group, its folders, its running containers. When kubelet's checkpoint names a pod, they show whether the pod still
// exists.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/kubelet/pod_folder.hpp"
#include "nvidia/kubelet/pod_groups.hpp"

namespace slipway::nvidia::kubelet {

/// Reads each source once, at the first request.
class PodTraces {
 public:
  /// @param host  borrowed @param kubelet_root  kubelet's folder
  PodTraces(const Host& host, std::string kubelet_root) : host_(host), kubelet_root_(std::move(kubelet_root)) {}

  /// Empty: the pod has no log folder, so that only its UID is known.
  const PodFolder* name_of(const std::string& uid);
  /// Returns how many pods with that name have a log folder.
  std::size_t count_named(const std::string& pod_namespace, const std::string& name);
  /// True when one of them comes from the API server: the UID of a static pod has no dashes.
  bool is_of_api_server(const std::string& pod_namespace, const std::string& name);

  /// True when kubelet's control group for pods is visible, so that a pod without a group has no process.
  bool shows_groups() { return groups().visible; }
  bool has_group(const std::string& uid) { return groups().by_pod_uid.contains(uid); }
  /// True when kubelet's folder of pods is visible; kubelet removes a pod's folder after the pod is deleted and has
  /// ended.
  bool shows_folders();
  bool has_folder(const std::string& uid) const;
  /// True when kubelet has volumes for it; kubelet removes them after the pod has ended, even if the pod is not
  /// deleted.
  bool has_volumes(const std::string& uid) const;
  /// Returns the names of the pod's running containers, as far as they are known.
  std::set<std::string> running_containers(const PodFolder& pod);

 private:
  const PodGroups& groups();
  const std::vector<PodFolder>& folders();
  const std::vector<std::string>& container_logs();

  const Host& host_;
  std::string kubelet_root_;
  std::optional<PodGroups> groups_;
  std::optional<std::vector<PodFolder>> folders_;
  std::optional<std::vector<std::string>> container_logs_;
  std::optional<bool> shows_folders_;
};

}  // namespace slipway::nvidia::kubelet
