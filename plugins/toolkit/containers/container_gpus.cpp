// SPDX-License-Identifier: Apache-2.0
#include "toolkit/containers/container_gpus.hpp"

#include <algorithm>
#include <array>

#include "nvidia/process/process.hpp"

namespace slipway::toolkit {
namespace {

using nvidia::cleaned;

constexpr std::string_view kVisible = "NVIDIA_VISIBLE_DEVICES=";
constexpr std::array<std::string_view, 3> kLegacyHooks{"nvidia-container-runtime-hook", "nvidia-container-toolkit",
                                                       "nvidia-container-cli"};
constexpr std::array kHookLists{"prestart", "createRuntime", "createContainer"};
constexpr std::size_t kIdShown = 12;
constexpr std::size_t kNameShown = 64;
constexpr std::size_t kLongestPath = 256;

/// Keys of pod and container in the annotations of containerd's CRI plugin and CRI-O.
struct Keys {
  const char* pod_namespace;
  const char* pod;
  const char* container;
};
constexpr std::array kKeys{
    Keys{"io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri.sandbox-name", "io.kubernetes.cri.container-name"},
    Keys{"io.kubernetes.pod.namespace", "io.kubernetes.pod.name", "io.kubernetes.container.name"}};

const Json& member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

std::string text_in(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// Returns a number of a rule or node; empty if it stands for all (missing, -1).
std::optional<unsigned> number_in(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > 0xffffffffLL)
    return std::nullopt;
  return static_cast<unsigned>(value.get<std::int64_t>());
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string name_of(const Json& config, std::string_view id) {
  const Json& notes = member(config, "annotations");
  for (const Keys& keys : kKeys) {
    const std::string pod = text_in(notes, keys.pod);
    if (pod.empty()) continue;
    std::string name =
        "pod " + cleaned(text_in(notes, keys.pod_namespace), kNameShown) + "/" + cleaned(pod, kNameShown);
    const std::string container = text_in(notes, keys.container);
    return container.empty() ? name : name + ", container " + cleaned(container, kNameShown);
  }
  const bool is_digest = id.size() == 64;
  return "container " + cleaned(is_digest ? id.substr(0, kIdShown) : id, kNameShown);
}

/// True for the default of images: all GPUs, or none.
bool is_of_images(std::string_view value) {
  return value.empty() || value == "all" || value == "void" || value == "none";
}

std::string variable_of(const Json& config) {
  std::string value;
  const Json& variables = member(member(config, "process"), "env");
  if (variables.is_array())
    for (const Json& each : variables)
      if (each.is_string() && each.get_ref<const std::string&>().starts_with(kVisible))
        value = each.get_ref<const std::string&>().substr(kVisible.size());
  return value;
}

bool has_legacy_hook(const Json& config) {
  return std::ranges::any_of(kHookLists, [&](const char* list) {
    const Json& hooks = member(member(config, "hooks"), list);
    return hooks.is_array() && std::ranges::any_of(hooks, [](const Json& hook) {
             const std::string path = text_in(hook, "path");
             return std::ranges::find(kLegacyHooks, base_name(path)) != kLegacyHooks.end();
           });
  });
}

/// The last matching rule counts.
bool allowed_by(const Json& rules, std::optional<DeviceNumber> number) {
  bool allowed = false;
  if (!rules.is_array()) return false;
  for (const Json& rule : rules) {
    const std::string type = text_in(rule, "type");
    if (!type.empty() && type != "a" && type != "c") continue;
    const auto major = number_in(rule, "major");
    const auto minor = number_in(rule, "minor");
    if (!number && (major || minor)) continue;
    if (number && ((major && *major != number->major) || (minor && *minor != number->minor))) continue;
    const std::string access = text_in(rule, "access");
    const bool to_use =
        access.empty() || (access.find('r') != std::string::npos && access.find('w') != std::string::npos);
    if (to_use) allowed = member(rule, "allow") == true;
  }
  return allowed;
}

void add_devices(const Json& config, std::vector<ContainerNode>& nodes) {
  const Json& rules = member(member(member(config, "linux"), "resources"), "devices");
  const Json& devices = member(member(config, "linux"), "devices");
  if (!devices.is_array()) return;
  for (const Json& each : devices) {
    const std::string path = text_in(each, "path");
    const auto major = number_in(each, "major");
    if (!is_nvidia_node(path) || text_in(each, "type") != "c" || !major || nodes.size() == kMostContainerNodes)
      continue;
    const DeviceNumber number{*major, number_in(each, "minor").value_or(0)};
    nodes.push_back({.path = path, .number = number, .mounted = false, .allowed = allowed_by(rules, number)});
  }
}

void add_mounts(const Json& config, std::vector<ContainerNode>& nodes) {
  const Json& mounts = member(config, "mounts");
  if (!mounts.is_array()) return;
  for (const Json& each : mounts) {
    const std::string path = text_in(each, "destination");
    const bool is_there = std::ranges::any_of(nodes, [&](const ContainerNode& node) { return node.path == path; });
    if (is_nvidia_node(path) && is_nvidia_node(text_in(each, "source")) && !is_there &&
        nodes.size() < kMostContainerNodes)
      nodes.push_back({.path = path, .number = {}, .mounted = true, .allowed = false});
  }
}

/// Returns "cdi.k8s.io/…=nvidia.com/gpu=…", which the engine should have applied.
std::string annotation_of(const Json& config) {
  const Json& notes = member(config, "annotations");
  if (!notes.is_object()) return {};
  for (const auto& [key, value] : notes.items())
    if (key.starts_with("cdi.k8s.io/") && value.is_string() &&
        value.get_ref<const std::string&>().starts_with("nvidia.com/gpu="))
      return cleaned(key + "=" + value.get_ref<const std::string&>(), kNameShown);
  return {};
}

}  // namespace

bool is_nvidia_node(std::string_view path) {
  constexpr std::string_view kFolder = "/dev/nvidia";
  return path.starts_with(kFolder) && path.size() < kLongestPath && path.find("/../") == std::string_view::npos &&
         path.find('\0') == std::string_view::npos && !path.starts_with("/dev/nvidia-fs");
}

bool is_gpu_node(std::string_view path) {
  constexpr std::string_view kFolder = "/dev/nvidia";
  const std::string_view number = path.substr(std::min(path.size(), kFolder.size()));
  return path.starts_with(kFolder) && !number.empty() && number.size() < 4 &&
         std::ranges::all_of(number, [](char each) { return each >= '0' && each <= '9'; });
}

std::optional<ContainerGpus> gpus_of_container(const Json& config, std::string_view id) {
  ContainerGpus given;
  given.legacy_hook = has_legacy_hook(config);
  const std::string variable = variable_of(config);
  const bool names_gpu = variable.starts_with("GPU-") || variable.starts_with("MIG-");
  const std::string annotation = annotation_of(config);
  if (!is_of_images(variable) || (given.legacy_hook && variable == "all"))
    given.request = cleaned(std::string(kVisible) + variable, kVisible.size() + kNameShown);
  if (given.request.empty()) given.request = annotation;
  const Json& rules = member(member(member(config, "linux"), "resources"), "devices");
  const bool privileged = allowed_by(rules, std::nullopt);
  if (privileged && given.request.empty()) return std::nullopt;
  add_devices(config, given.nodes);
  add_mounts(config, given.nodes);
  if (given.legacy_hook && given.request.empty()) given.legacy_hook = false;
  const bool has_gpu = std::ranges::any_of(given.nodes, [](const ContainerNode& node) {
    return is_gpu_node(node.path) || node.path.starts_with("/dev/nvidia-caps/");
  });
  if (!has_gpu && !given.legacy_hook && !names_gpu && annotation.empty()) return std::nullopt;
  if (!has_gpu && !given.legacy_hook) given.nodes.clear();
  given.name = name_of(config, id);
  return given;
}

}  // namespace slipway::toolkit
