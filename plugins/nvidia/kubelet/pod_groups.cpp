// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/pod_groups.hpp"

#include <algorithm>
#include <array>

namespace slipway::nvidia::kubelet {
namespace {

constexpr std::size_t kIdDigits = 64;
constexpr std::size_t kUidDigits = 32;  // without dashes; a static pod's hash never has any

bool is_hex(char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'); }

std::string_view without_ending(std::string_view text, std::string_view ending) {
  return text.ends_with(ending) ? text.substr(0, text.size() - ending.size()) : text;
}

/// Returns one cgroup hierarchy, of version 1 or 2.
std::string hierarchy(const Host& host) {
  const std::string top = "/sys/fs/cgroup";
  if (host.exists(top + "/cgroup.controllers")) return top;
  for (const char* const controller : {"/pids", "/memory", "/systemd"})
    if (host.exists(top + controller)) return top + controller;
  return {};
}

/// True for groups of logins, services and virtual machines, which may be delegated.
bool is_not_for_pods(std::string_view name) {
  constexpr std::array kOthers{"user.slice", "system.slice", "machine.slice", "init.scope"};
  return std::ranges::find(kOthers, name) != kOthers.end();
}

bool is_folder_of(const Host& host, const std::string& path, std::uint32_t owner) {
  const auto info = host.info(path);
  return info && info->type == FileInfo::Type::directory && info->uid == owner;
}

/// Returns groups at the top, or one level below (kubelet's --cgroup-root).
std::vector<std::string> kubelets_groups(const Host& host) {
  const std::string top = hierarchy(host);
  const auto info = top.empty() ? Result<FileInfo>(Error{}) : host.info(top);
  std::vector<std::string> groups;
  if (!info) return groups;
  for (const std::string& name : host.list(top).value_or({})) {
    const std::string path = top + "/" + name;
    if (is_not_for_pods(name) || !is_folder_of(host, path, info->uid)) continue;
    if (is_group_of_pods(name)) {
      groups.push_back(path);
      continue;
    }
    for (const std::string& below : host.list(path).value_or({}))
      if (is_group_of_pods(below) && is_folder_of(host, path + "/" + below, info->uid))
        groups.push_back(path + "/" + below);
  }
  return groups;
}

void add_pods(const Host& host, const std::string& group, bool has_classes, PodGroups& groups) {
  for (const std::string& name : host.list(group).value_or({})) {
    const std::string path = group + "/" + name;
    const std::string uid = pod_uid_in(name);
    const bool is_class = name.find("burstable") != std::string::npos || name.find("besteffort") != std::string::npos;
    if (!uid.empty() && groups.by_pod_uid.size() < kMostPodGroups)
      groups.by_pod_uid.emplace(uid, path);
    else if (uid.empty() && has_classes && is_class)
      add_pods(host, path, false, groups);
  }
}

}  // namespace

bool is_group_of_pods(std::string_view name) {
  return name == "kubepods" || name == "kubepods.slice" || name.ends_with("-kubepods.slice");
}

std::string pod_uid_in(std::string_view name) {
  name = without_ending(name, ".slice");
  const auto at = name.rfind("pod");
  if (at == std::string_view::npos || (at != 0 && name[at - 1] != '-')) return {};
  std::string uid(name.substr(at + 3));
  std::ranges::replace(uid, '_', '-');
  const auto digits = std::ranges::count_if(uid, is_hex);
  const auto dashes = std::ranges::count(uid, '-');
  const bool is_uid = static_cast<std::size_t>(digits) == kUidDigits && (dashes == 0 || dashes == 4) &&
                      static_cast<std::size_t>(digits + dashes) == uid.size();
  return is_uid ? uid : std::string();
}

std::string container_id_in(std::string_view name) {
  name = without_ending(name, ".scope");
  const auto dash = name.rfind('-');
  const std::string_view id = dash == std::string_view::npos ? name : name.substr(dash + 1);
  return id.size() == kIdDigits && std::ranges::all_of(id, is_hex) ? std::string(id) : std::string();
}

PodGroups read_pod_groups(const Host& host) {
  PodGroups groups;
  for (const std::string& group : kubelets_groups(host)) {
    groups.visible = true;
    add_pods(host, group, true, groups);
  }
  return groups;
}

std::vector<std::string> containers_in(const Host& host, const std::string& group) {
  constexpr std::string_view kMonitor = "crio-conmon-";  // CRI-O's monitor process of a container
  std::vector<std::string> ids;
  for (const std::string& name : host.list(group).value_or({}))
    if (std::string id = container_id_in(name); !id.empty() && !name.starts_with(kMonitor))
      ids.push_back(std::move(id));
  return ids;
}

}  // namespace slipway::nvidia::kubelet
