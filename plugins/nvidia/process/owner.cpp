// SPDX-License-Identifier: Apache-2.0
// Names of control groups, as systemd, the container engines and kubelet give them with either cgroup driver.
//
// A group that belongs to a user or a container may contain groups with any name. So a path is read from the top, where
// only root creates groups, down to the first delegated group.
#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <slipway/text.hpp>

#include "nvidia/kubelet/pod_groups.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::nvidia {
namespace {

constexpr std::array kRuntimes{
    std::pair<std::string_view, std::string_view>("docker", "docker"),
    std::pair<std::string_view, std::string_view>("cri-containerd", "containerd"),
    std::pair<std::string_view, std::string_view>("nerdctl", "containerd"),
    std::pair<std::string_view, std::string_view>("crio", "cri-o"),
    std::pair<std::string_view, std::string_view>("crio-conmon", "cri-o"),
    std::pair<std::string_view, std::string_view>("libpod", "podman"),
    std::pair<std::string_view, std::string_view>("libpod-conmon", "podman"),
};

std::string_view without_ending(std::string_view text, std::string_view ending) {
  return text.ends_with(ending) ? text.substr(0, text.size() - ending.size()) : text;
}

/// @param name  "docker-ID.scope", "libpod-ID", "ID"
/// @param above  the parent group, which names the engine if the name does not
bool take_container(std::string_view name, std::string_view above, Owner& owner) {
  std::string id = kubelet::container_id_in(name);
  if (id.empty()) return false;
  owner.container = std::move(id);
  name = without_ending(name, ".scope");
  const auto dash = name.rfind('-');
  const std::string_view prefix = dash == std::string_view::npos ? above : name.substr(0, dash);
  const auto* const known = std::ranges::find(kRuntimes, prefix, &decltype(kRuntimes)::value_type::first);
  owner.runtime = known == kRuntimes.end() ? "" : known->second;
  return true;
}

bool is_unit(std::string_view name) { return name.ends_with(".service") || name.ends_with(".scope"); }

/// Kubernetes distributions in one program: the pods' groups are below its unit if the program itself creates them.
bool runs_pods(std::string_view unit) {
  constexpr std::array kUnits{"kubelet.service",    "k3s.service",       "k3s-agent.service",    "rke2-server.service",
                              "rke2-agent.service", "k0sworker.service", "k0scontroller.service"};
  return std::ranges::find(kUnits, unit) != kUnits.end() || unit.starts_with("snap.microk8s.");
}

using Groups = std::span<const std::string_view>;

/// True for a pod's QoS class: "burstable", "kubepods-besteffort.slice".
bool is_class(std::string_view name) {
  name = without_ending(name, ".slice");
  return name == "burstable" || name == "besteffort" || name.ends_with("kubepods-burstable") ||
         name.ends_with("kubepods-besteffort");
}

/// Reads groups below the group of all pods: a class or none, the pod, the container. Groups that a container creates
/// are ignored.
Owner pod_owner(Groups groups) {
  Owner owner;
  std::string_view above;
  if (!groups.empty() && is_class(groups.front())) groups = groups.subspan(1);
  if (!groups.empty()) owner.pod_uid = kubelet::pod_uid_in(groups.front());
  if (!owner.pod_uid.empty()) {
    above = groups.front();
    groups = groups.subspan(1);
  }
  if (!groups.empty()) take_container(groups.front(), above, owner);
  return owner;
}

/// Reads a login session or a user's systemd manager, which root creates; everything below belongs to the user.
Owner owner_among_users(Groups groups) {
  Owner owner;
  for (const std::string_view name : groups) {
    if (owner.unit.empty()) {
      if (is_unit(name)) owner.unit = cleaned(name);
    } else if (take_container(name, {}, owner)) {
      owner.user_unit.clear();
      return owner;
    } else if (is_unit(name)) {
      owner.user_unit = cleaned(name);
    }
  }
  return owner;
}

/// Folders other than slices above a container or the pods: an engine's, or kubelet's --cgroup-root.
constexpr std::size_t kMostFolders = 2;

/// Reads from the top down to the first group that root has delegated.
Owner owner_in(std::string_view path) {
  std::vector<std::string_view> all = split<std::string_view>(path, '/');
  std::erase_if(all, [](std::string_view name) { return name.empty(); });
  Groups groups(all);
  // In the cgroup namespace of a container, groups outside of it begin with "..", at an unknown depth.
  const bool is_outside = !groups.empty() && groups.front() == "..";
  while (!groups.empty() && groups.front() == "..") groups = groups.subspan(1);
  if (is_outside && !groups.empty() && (is_class(groups.front()) || !kubelet::pod_uid_in(groups.front()).empty()))
    return pod_owner(groups);
  Owner owner;
  std::string_view above;
  std::size_t folders = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string_view name = groups[i];
    const Groups below = groups.subspan(i + 1);
    if (name == "user.slice") return owner_among_users(below);
    if (kubelet::is_group_of_pods(name)) return i < kMostFolders ? pod_owner(below) : Owner();
    if (take_container(name, above, owner)) return owner;
    if (is_unit(name)) {
      if (runs_pods(name) && !below.empty() && kubelet::is_group_of_pods(below.front()))
        if (Owner pod = pod_owner(below.subspan(1)); pod != Owner()) return pod;
      owner.unit = cleaned(name);
      return owner;
    }
    if (!name.ends_with(".slice") && ++folders > kMostFolders) break;
    above = name;
  }
  return owner;
}

}  // namespace

Owner owner_of(std::string_view cgroups) {
  Owner best;
  for (const std::string_view line : lines_of<std::string_view>(cgroups)) {
    // "0::/path" in version 2, "4:memory:/path" in version 1.
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    Owner owner = owner_in(line.substr(second + 1));
    const bool is_better = (best.container.empty() && !owner.container.empty()) ||
                           (best.container.empty() && best.pod_uid.empty() && !owner.pod_uid.empty()) ||
                           best == Owner();
    if (is_better) best = std::move(owner);
  }
  return best;
}

}  // namespace slipway::nvidia
