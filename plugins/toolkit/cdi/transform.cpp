// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/transform.hpp"

#include <algorithm>
#include <set>

namespace slipway::toolkit {
namespace {

using nvidia::cdi::Device;
using nvidia::cdi::DeviceNode;
using nvidia::cdi::Edits;
using nvidia::cdi::Hook;
using nvidia::cdi::Mount;
using nvidia::cdi::Spec;

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::ranges::find(list, value) != list.end();
}

template <class T>
void drop_repeated(std::vector<T>& list) {
  std::vector<T> once;
  for (T& value : list)
    if (!contains(once, value)) once.push_back(std::move(value));
  list = std::move(once);
}

template <class T>
void drop_common(std::vector<T>& list, const std::vector<T>& common) {
  std::erase_if(list, [&](const T& value) { return contains(common, value); });
}

void drop_repeated(Edits& edits) {
  drop_repeated(edits.env);
  drop_repeated(edits.device_nodes);
  drop_repeated(edits.net_devices);
  drop_repeated(edits.hooks);
  drop_repeated(edits.mounts);
  std::ranges::sort(edits.additional_gids);
  drop_repeated(edits.additional_gids);
}

Edits without(Edits edits, const Edits& common) {
  drop_common(edits.env, common.env);
  drop_common(edits.device_nodes, common.device_nodes);
  drop_common(edits.net_devices, common.net_devices);
  drop_common(edits.hooks, common.hooks);
  drop_common(edits.mounts, common.mounts);
  drop_common(edits.additional_gids, common.additional_gids);
  if (edits.intel_rdt == common.intel_rdt) edits.intel_rdt.reset();
  return edits;
}

bool by_depth(const std::string& left, const std::string& right) {
  const auto depth = [](const std::string& path) { return std::ranges::count(path, '/'); };
  const auto a = depth(left);
  const auto b = depth(right);
  return a != b ? a < b : left < right;
}

void sort(Edits& edits) {
  std::ranges::stable_sort(edits.device_nodes, by_depth, &DeviceNode::path);
  std::ranges::stable_sort(edits.mounts, by_depth, &Mount::container_path);
}

/// Handles "PATH" and "TARGET::LINK", each path separately.
std::string argument_with_root(const std::string& argument, const std::string& from, const std::string& to) {
  const auto joint = argument.find("::");
  if (joint == std::string::npos) return with_root(argument, from, to);
  return with_root(argument.substr(0, joint), from, to) + "::" + with_root(argument.substr(joint + 2), from, to);
}

/// True for a hook that runs in the container's namespaces: its arguments are paths there.
bool runs_inside(const Hook& hook) { return hook.hook_name == "createContainer" || hook.hook_name == "startContainer"; }

void move_host_root(Edits& edits, const std::string& from, const std::string& to) {
  for (DeviceNode& node : edits.device_nodes) {
    const std::string host = node.host_path.empty() ? node.path : node.host_path;
    const std::string moved = with_root(host, from, to);
    if (moved != host) node.host_path = moved;
  }
  for (Mount& mount : edits.mounts) mount.host_path = with_root(mount.host_path, from, to);
  for (Hook& hook : edits.hooks) {
    if (hook.hook_name == "startContainer") continue;  // its program belongs to the container
    hook.path = with_root(hook.path, from, to);
    if (runs_inside(hook)) continue;
    for (std::string& argument : hook.args) argument = argument_with_root(argument, from, to);
  }
}

void move_container_root(Edits& edits, const std::string& from, const std::string& to) {
  for (DeviceNode& node : edits.device_nodes) {
    const std::string moved = with_root(node.path, from, to);
    if (moved != node.path && node.host_path.empty()) node.host_path = node.path;  // the host's path stays
    node.path = moved;
  }
  for (Mount& mount : edits.mounts) mount.container_path = with_root(mount.container_path, from, to);
  for (Hook& hook : edits.hooks) {
    if (hook.hook_name == "startContainer") hook.path = with_root(hook.path, from, to);
    if (!runs_inside(hook)) continue;
    for (std::string& argument : hook.args) argument = argument_with_root(argument, from, to);
  }
}

}  // namespace

void tidy(Spec& spec) {
  drop_repeated(spec.edits);
  sort(spec.edits);
  for (Device& device : spec.devices) {
    drop_repeated(device.edits);
    Edits own = without(device.edits, spec.edits);
    if (!own.empty()) device.edits = std::move(own);
    sort(device.edits);
  }
  std::ranges::stable_sort(spec.devices, {}, &Device::name);
}

void add_all_device(Spec& spec) {
  if (spec.devices.empty() || spec.find("all") != nullptr) return;
  Device all{"all", {}, {}};
  for (const Device& device : spec.devices) all.edits.append(device.edits);
  spec.devices.push_back(std::move(all));
}

void finish(Spec& spec, bool with_all) {
  tidy(spec);
  if (with_all) {
    add_all_device(spec);
    tidy(spec);
  }
  spec.version = smallest_version(spec);
}

std::string with_root(const std::string& path, const std::string& from, const std::string& to) {
  std::string old_root = from;
  while (old_root.ends_with('/')) old_root.pop_back();
  std::string new_root = to;
  while (new_root.ends_with('/')) new_root.pop_back();
  if (!path.starts_with('/') || !path.starts_with(old_root)) return path;
  const std::string rest = path.substr(old_root.size());
  if (!rest.empty() && rest.front() != '/') return path;
  const std::string moved = new_root + rest;
  return moved.empty() ? "/" : moved;
}

void move_host_root(Spec& spec, const std::string& from, const std::string& to) {
  move_host_root(spec.edits, from, to);
  for (Device& device : spec.devices) move_host_root(device.edits, from, to);
}

void move_container_root(Spec& spec, const std::string& from, const std::string& to) {
  move_container_root(spec.edits, from, to);
  for (Device& device : spec.devices) move_container_root(device.edits, from, to);
}

}  // namespace slipway::toolkit
