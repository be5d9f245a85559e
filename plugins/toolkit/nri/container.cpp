// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <string>

#include "toolkit/nri/adjustment.hpp"

namespace slipway::nri {
namespace {

using HookList = google::protobuf::RepeatedPtrField<wire::Hook>;
using Texts = google::protobuf::RepeatedPtrField<std::string>;

/// OCI's hook names, and the matching fields of NRI.
struct HookKind {
  const char* name;
  const HookList& (wire::Hooks::*read)() const;
  HookList* (wire::Hooks::*change)();
};
constexpr HookKind kHooks[] = {
    {"prestart", &wire::Hooks::prestart, &wire::Hooks::mutable_prestart},
    {"createRuntime", &wire::Hooks::create_runtime, &wire::Hooks::mutable_create_runtime},
    {"createContainer", &wire::Hooks::create_container, &wire::Hooks::mutable_create_container},
    {"startContainer", &wire::Hooks::start_container, &wire::Hooks::mutable_start_container},
    {"poststart", &wire::Hooks::poststart, &wire::Hooks::mutable_poststart},
    {"poststop", &wire::Hooks::poststop, &wire::Hooks::mutable_poststop}};

/// Leaves out an empty list, as engines and the editor do.
void set_texts(Json& object, const char* name, const Texts& texts) {
  for (const std::string& text : texts) object[name].push_back(text);
}

void add_texts(const Json& object, const char* name, Texts& into) {
  if (const auto list = object.find(name); list != object.end())
    for (const Json& text : *list) *into.Add() = text.get<std::string>();
}

bool writes_sysfs(const wire::Container& container) {
  return std::ranges::any_of(container.mounts(), [](const wire::Mount& mount) {
    return mount.type() == "sysfs" && mount.destination() == "/sys" && std::ranges::count(mount.options(), "ro") == 0;
  });
}

Json process_of(const wire::Container& container) {
  Json process = Json::object();
  set_texts(process, "env", container.env());
  if (container.has_user()) {
    process["user"] = {{"uid", container.user().uid()}, {"gid", container.user().gid()}};
    for (const std::uint32_t gid : container.user().additional_gids()) process["user"]["additionalGids"].push_back(gid);
  }
  if (writes_sysfs(container)) process["capabilities"]["bounding"] = {"CAP_SYS_ADMIN"};
  return process;
}

Json mount_of(const wire::Mount& mount) {
  Json entry{{"destination", mount.destination()}, {"source", mount.source()}};
  if (!mount.type().empty()) entry["type"] = mount.type();
  set_texts(entry, "options", mount.options());
  return entry;
}

Json hook_of(const wire::Hook& hook) {
  Json entry{{"path", hook.path()}};
  set_texts(entry, "args", hook.args());
  set_texts(entry, "env", hook.env());
  if (hook.has_timeout()) entry["timeout"] = hook.timeout().value();
  return entry;
}

Json device_of(const wire::LinuxDevice& device) {
  Json entry{{"path", device.path()}, {"type", device.type()}};
  if (device.type() != "p") {
    entry["major"] = device.major();
    entry["minor"] = device.minor();
  }
  if (device.has_file_mode()) entry["fileMode"] = device.file_mode().value();
  if (device.has_uid()) entry["uid"] = device.uid().value();
  if (device.has_gid()) entry["gid"] = device.gid().value();
  return entry;
}

/// Returns the elements of a nested list in `after` that are not in the same list of `before`.
std::vector<Json> added(const Json& before, const Json& after, const Json::json_pointer& list) {
  std::vector<Json> elements;
  if (!after.contains(list)) return elements;
  std::vector<Json> existing;
  if (before.contains(list)) existing.assign(before.at(list).begin(), before.at(list).end());
  std::ranges::sort(existing, std::less<>());
  for (const Json& element : after.at(list))
    if (!std::ranges::binary_search(existing, element, std::less<>())) elements.push_back(element);
  return elements;
}

void add_variable(const std::string& variable, wire::ContainerAdjustment& adjustment) {
  const auto equals = std::min(variable.find('='), variable.size());
  auto* const pair = adjustment.add_env();
  pair->set_key(variable.substr(0, equals));
  if (equals < variable.size()) pair->set_value(variable.substr(equals + 1));
}

void add_mount(const Json& entry, wire::ContainerAdjustment& adjustment) {
  auto* const mount = adjustment.add_mounts();
  mount->set_destination(entry["destination"].get<std::string>());
  mount->set_source(entry["source"].get<std::string>());
  mount->set_type(entry.value("type", ""));
  add_texts(entry, "options", *mount->mutable_options());
}

void add_device(const Json& entry, wire::ContainerAdjustment& adjustment) {
  auto* const device = adjustment.mutable_on_linux()->add_devices();
  device->set_path(entry["path"].get<std::string>());
  device->set_type(entry["type"].get<std::string>());
  device->set_major(entry.value("major", std::int64_t{0}));
  device->set_minor(entry.value("minor", std::int64_t{0}));
  if (entry.contains("fileMode")) device->mutable_file_mode()->set_value(entry["fileMode"].get<std::uint32_t>());
  if (entry.contains("uid")) device->mutable_uid()->set_value(entry["uid"].get<std::uint32_t>());
  if (entry.contains("gid")) device->mutable_gid()->set_value(entry["gid"].get<std::uint32_t>());
}

void add_hook(const Json& entry, HookList& into) {
  auto* const hook = into.Add();
  hook->set_path(entry["path"].get<std::string>());
  add_texts(entry, "args", *hook->mutable_args());
  add_texts(entry, "env", *hook->mutable_env());
  if (entry.contains("timeout")) hook->mutable_timeout()->set_value(entry["timeout"].get<std::int64_t>());
}

}  // namespace

Json bundle_of(const wire::PodSandbox& pod, const wire::Container& container) {
  Json bundle{{"process", process_of(container)}};
  for (const auto* annotations : {&pod.annotations(), &container.annotations()})
    for (const auto& pair : *annotations) bundle["annotations"][pair.key()] = pair.value();
  for (const auto& mount : container.mounts()) bundle["mounts"].push_back(mount_of(mount));
  for (const HookKind& kind : kHooks)
    for (const auto& hook : (container.hooks().*kind.read)()) bundle["hooks"][kind.name].push_back(hook_of(hook));
  for (const auto& device : container.on_linux().devices()) bundle["linux"]["devices"].push_back(device_of(device));
  return bundle;
}

wire::ContainerAdjustment difference(const Json& before, const Json& after) {
  using Place = Json::json_pointer;
  wire::ContainerAdjustment adjustment;
  for (const Json& variable : added(before, after, Place("/process/env")))
    add_variable(variable.get<std::string>(), adjustment);
  for (const Json& mount : added(before, after, Place("/mounts"))) add_mount(mount, adjustment);
  for (const Json& device : added(before, after, Place("/linux/devices"))) add_device(device, adjustment);
  for (const HookKind& kind : kHooks)
    for (const Json& hook : added(before, after, Place("/hooks") / kind.name))
      add_hook(hook, *(adjustment.mutable_hooks()->*kind.change)());
  return adjustment;
}

}  // namespace slipway::nri
