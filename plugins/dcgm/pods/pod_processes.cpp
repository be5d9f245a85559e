// SPDX-License-Identifier: Apache-2.0
#include "dcgm/pods/pod_processes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <slipway/text.hpp>

#include "nvidia/drain/process.hpp"
#include "nvidia/kubelet/pod_folder.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::size_t kMostGroups = 4096;
constexpr std::size_t kMostBytes = 256 << 10;
constexpr int kDeepest = 6;  // below a pod's: containers, and what those make inside

/// One hierarchy, whichever version it is.
std::string hierarchy(const Host& host) {
  const std::string top = "/sys/fs/cgroup";
  if (host.exists(top + "/cgroup.controllers")) return top;
  for (const char* const controller : {"/pids", "/memory", "/systemd"})
    if (host.exists(top + controller)) return top + controller;
  return {};
}

/// Those of logins, services and virtual machines, which may give theirs away.
bool is_of_others(std::string_view name) {
  constexpr std::array kOthers{"user.slice", "system.slice", "machine.slice", "init.scope"};
  return std::ranges::find(kOthers, name) != kOthers.end();
}

bool is_folder_of(const Host& host, const std::string& path, std::uint32_t owner) {
  const auto info = host.info(path);
  return info && info->type == FileInfo::Type::directory && info->uid == owner;
}

/// At the top, or one below it (kubelet's --cgroup-root).
std::vector<std::string> kubelets_groups(const Host& host) {
  const std::string top = hierarchy(host);
  const auto info = top.empty() ? Result<FileInfo>(Error{}) : host.info(top);
  std::vector<std::string> groups;
  if (!info) return groups;
  for (const std::string& name : host.list(top).value_or({})) {
    const std::string path = top + "/" + name;
    if (is_of_others(name) || !is_folder_of(host, path, info->uid)) continue;
    if (nvidia::drain::is_group_of_pods(name)) {
      groups.push_back(path);
      continue;
    }
    for (const std::string& below : host.list(path).value_or({}))
      if (nvidia::drain::is_group_of_pods(below) && is_folder_of(host, path + "/" + below, info->uid))
        groups.push_back(path + "/" + below);
  }
  return groups;
}

class Walk {
 public:
  Walk(const Host& host, const PodNames& pods) : host_(host), pods_(pods) {}

  std::map<unsigned, std::string> take() && {
    for (const std::string& group : kubelets_groups(host_)) look_for_pods(group, true);
    return std::move(processes_);
  }

 private:
  void look_for_pods(const std::string& group, bool has_classes) {
    for (const std::string& name : host_.list(group).value_or({})) {
      const std::string path = group + "/" + name;
      const std::string uid = nvidia::drain::pod_uid_in(name);
      const bool is_class = name.find("burstable") != std::string::npos || name.find("besteffort") != std::string::npos;
      if (pods_.contains(uid))
        add_processes(path, uid, 0);
      else if (uid.empty() && has_classes && is_class)
        look_for_pods(path, false);
    }
  }

  void add_processes(const std::string& group, const std::string& uid, int depth) {
    if (depth > kDeepest || ++groups_ > kMostGroups) return;
    const std::string listed = host_.read(group + "/cgroup.procs", kMostBytes).value_or("");
    for (const std::string_view line : lines_of<std::string_view>(listed)) {
      unsigned pid = 0;
      const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), pid);
      if (problem == std::errc{} && end == line.data() + line.size()) processes_.emplace(pid, uid);
    }
    for (const std::string& name : host_.list(group).value_or({})) {
      const auto info = host_.info(group + "/" + name);
      if (info && info->type == FileInfo::Type::directory) add_processes(group + "/" + name, uid, depth + 1);
    }
  }

  const Host& host_;
  const PodNames& pods_;
  std::size_t groups_ = 0;
  std::map<unsigned, std::string> processes_;
};

}  // namespace

PodNames names_of_pods(const Host& host) {
  PodNames pods;
  for (const auto& folder : nvidia::kubelet::pod_folders(host))
    pods.emplace(folder.uid, nvidia::drain::pod_text(folder.pod_namespace, folder.name));
  return pods;
}

std::map<unsigned, std::string> pods_by_process(const Host& host, const PodNames& pods) {
  return Walk(host, pods).take();
}

void find_pods_of_processes(const Host& host, std::vector<Entity>& entities) {
  const bool any = std::ranges::any_of(
      entities, [](const Entity& entity) { return entity.processes && !entity.processes->empty(); });
  if (!any) return;
  const PodNames pods = names_of_pods(host);
  const bool known = !pods.empty() && !kubelets_groups(host).empty();
  const auto processes = known ? pods_by_process(host, pods) : std::map<unsigned, std::string>();
  for (Entity& entity : entities) {
    if (!known) entity.processes.reset();
    if (!entity.processes) continue;
    for (ProcessUse& process : *entity.processes) {
      const auto found = processes.find(process.pid);
      process.pod = found == processes.end() ? "" : pods.find(found->second)->second;
    }
  }
}

}  // namespace slipway::dcgm
