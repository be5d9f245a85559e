// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/pod_traces.hpp"

#include <algorithm>

namespace slipway::nvidia::kubelet {
namespace {

/// kubelet creates a link NAME_NAMESPACE_CONTAINER-ID.log for each container here.
constexpr const char* kContainerLogFolder = "/var/log/containers";

/// The UID comes from a file of kubelet's, so it must be a plain name, not a path.
bool is_folder_name(const std::string& uid) {
  return !uid.empty() && uid.find('/') == std::string::npos && uid != "." && uid != "..";
}

}  // namespace

const PodGroups& PodTraces::groups() {
  if (!groups_) groups_ = read_pod_groups(host_);
  return *groups_;
}

const std::vector<PodFolder>& PodTraces::folders() {
  if (!folders_) folders_ = pod_folders(host_);
  return *folders_;
}

const std::vector<std::string>& PodTraces::container_logs() {
  if (!container_logs_) container_logs_ = host_.list(kContainerLogFolder).value_or({});
  return *container_logs_;
}

const PodFolder* PodTraces::name_of(const std::string& uid) { return find_pod(folders(), uid); }

std::size_t PodTraces::count_named(const std::string& pod_namespace, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::count_if(
      folders(), [&](const PodFolder& each) { return each.pod_namespace == pod_namespace && each.name == name; }));
}

bool PodTraces::is_of_api_server(const std::string& pod_namespace, const std::string& name) {
  return std::ranges::any_of(folders(), [&](const PodFolder& each) {
    return each.pod_namespace == pod_namespace && each.name == name && each.uid.find('-') != std::string::npos;
  });
}

bool PodTraces::shows_folders() {
  if (!shows_folders_) shows_folders_ = !kubelet_root_.empty() && host_.list(kubelet_root_ + "/pods").ok();
  return *shows_folders_;
}

bool PodTraces::has_folder(const std::string& uid) const {
  return is_folder_name(uid) && host_.info(kubelet_root_ + "/pods/" + uid).ok();
}

bool PodTraces::has_volumes(const std::string& uid) const {
  if (!is_folder_name(uid)) return false;
  const std::string folder = kubelet_root_ + "/pods/" + uid + "/volumes";
  const auto kinds = host_.list(folder).value_or({});
  return std::ranges::any_of(
      kinds, [&](const std::string& kind) { return !host_.list(folder + "/" + kind).value_or({}).empty(); });
}

std::set<std::string> PodTraces::running_containers(const PodFolder& pod) {
  std::set<std::string> names;
  const auto group = groups().by_pod_uid.find(pod.uid);
  if (group == groups().by_pod_uid.end()) return names;
  const std::string of_pod = pod.name + "_" + pod.pod_namespace + "_";
  for (const std::string& id : containers_in(host_, group->second)) {
    const std::string ending = "-" + id + ".log";
    for (const std::string& log : container_logs())
      if (log.size() > of_pod.size() + ending.size() && log.starts_with(of_pod) && log.ends_with(ending))
        names.insert(log.substr(of_pod.size(), log.size() - of_pod.size() - ending.size()));
  }
  return names;
}

}  // namespace slipway::nvidia::kubelet
