// SPDX-License-Identifier: Apache-2.0
#include "dcgm/pods/pod_processes.hpp"

#include <algorithm>
#include <charconv>

#include <slipway/text.hpp>

#include "nvidia/kubelet/pod_folder.hpp"
#include "nvidia/kubelet/pod_groups.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::size_t kMostGroups = 4096;
constexpr std::size_t kMostBytes = 256 << 10;
constexpr int kDeepest = 6;  // levels below a pod's: containers, and groups that they create

class Walk {
 public:
  Walk(const Host& host, const PodNames& pods, const nvidia::kubelet::PodGroups& groups_of_pods)
      : host_(host), pods_(pods), groups_of_pods_(groups_of_pods) {}

  std::map<unsigned, std::string> take() && {
    for (const auto& [uid, group] : groups_of_pods_.by_pod_uid)
      if (pods_.contains(uid)) add_processes(group, uid, 0);
    return std::move(processes_);
  }

 private:
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
  const nvidia::kubelet::PodGroups& groups_of_pods_;
  std::size_t groups_ = 0;
  std::map<unsigned, std::string> processes_;
};

}  // namespace

PodNames names_of_pods(const Host& host) {
  PodNames pods;
  for (const auto& folder : nvidia::kubelet::pod_folders(host))
    pods.emplace(folder.uid, nvidia::pod_text(folder.pod_namespace, folder.name));
  return pods;
}

std::map<unsigned, std::string> pods_by_process(const Host& host, const PodNames& pods) {
  return Walk(host, pods, nvidia::kubelet::read_pod_groups(host)).take();
}

void find_pods_of_processes(const Host& host, std::vector<Entity>& entities) {
  const bool any = std::ranges::any_of(
      entities, [](const Entity& entity) { return entity.processes && !entity.processes->empty(); });
  if (!any) return;
  const PodNames pods = names_of_pods(host);
  const nvidia::kubelet::PodGroups groups = nvidia::kubelet::read_pod_groups(host);
  const bool known = !pods.empty() && groups.visible;
  const auto processes = known ? Walk(host, pods, groups).take() : std::map<unsigned, std::string>();
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
