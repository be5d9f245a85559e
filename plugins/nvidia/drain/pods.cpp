// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/pods.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr std::size_t kLongestObjectName = 253;  // in Kubernetes

bool goes(const Affected& affected, const Part& part) { return affected.whole || part.affected; }

bool has_mig_devices(const PodHolders& given) {
  const auto first = given.holders.lower_bound("MIG-");
  return first != given.holders.end() && first->first.starts_with("MIG-");
}

/// @return false: NVML does not list them all
bool add_mig_devices(nvml::Nvml& nvml, const Affected& affected, std::vector<DeviceName>& names) {
  const auto devices = nvml::mig_devices(nvml, affected.device);
  if (!devices) return devices.absent();  // without MIG
  for (const nvmlDevice_t device : *devices) {
    const auto uuid = nvml::device_uuid(nvml, device);
    const auto gpu_instance = nvml::gpu_instance_id(nvml, device);
    const auto compute_instance = nvml::compute_instance_id(nvml, device);
    if (!uuid || !gpu_instance || !compute_instance) return false;
    for (const Part& part : affected.parts)
      if (goes(affected, part) && part.gpu_instance == *gpu_instance &&
          part.compute_instance.value_or(*compute_instance) == *compute_instance)
        names.push_back({*uuid, part.text});
  }
  return true;
}

}  // namespace

std::optional<std::vector<DeviceName>> names_for_kubelet(nvml::Nvml& nvml, const Affected& affected,
                                                         std::optional<unsigned> minor, const PodHolders& given) {
  std::vector<DeviceName> names;
  const std::string uuid = nvml::device_uuid(nvml, affected.device).value_or("");
  names.push_back({uuid, affected.text});
  if (minor) names.push_back({fmt::format("nvidia{}", *minor), affected.text});
  for (const Part& part : affected.parts) {
    if (!goes(affected, part)) continue;
    names.push_back({fmt::format("{}/{}", uuid, part.gpu_instance), part.text});
    if (minor) names.push_back({fmt::format("nvidia{}/gi{}", *minor, part.gpu_instance), part.text});
  }
  if (has_mig_devices(given) && !add_mig_devices(nvml, affected, names)) return std::nullopt;
  return names;
}

void add_pod(std::vector<DeviceHolder>& holders, const nvidia::kubelet::GpuPod& pod, const std::string& holds) {
  DeviceHolder holder{.process = {},
                      .holds = holds,
                      .kind = DeviceHolder::Kind::pod,
                      .init_container = pod.init_container,
                      .from_checkpoint = pod.from_checkpoint};
  holder.process.pod = pod_text(pod.pod_namespace, pod.pod);
  holder.process.pod_container = cleaned(pod.container);
  const bool is_there = std::ranges::any_of(holders, [&](const DeviceHolder& each) {
    const std::string& container = each.process.pod_container;
    return each.process.pod == holder.process.pod && each.holds == holds &&
           (container.empty() || container == holder.process.pod_container);
  });
  if (is_there) return;
  if (pod.pod_namespace.empty())
    holder.next = "delete the pod with the UID " + holder.process.pod;
  else
    holder.next = fmt::format("delete the pod (`kubectl delete pod -n {} {}`)",
                              cleaned(pod.pod_namespace, kLongestObjectName), cleaned(pod.pod, kLongestObjectName));
  holders.push_back(std::move(holder));
}

DeviceHolder unknown_pod(const Affected& affected, const PodHolders& given) {
  return {.process = {},
          .holds = affected.text,
          .kind = DeviceHolder::Kind::unknown,
          .problem = cleaned(given.problem, 512),
          .next = given.next};
}

std::string to_text(const DeviceHolder& holder) {
  const Process& process = holder.process;
  if (holder.kind == DeviceHolder::Kind::unknown) return "a pod, perhaps, on " + holder.holds + ": " + holder.problem;
  if (holder.kind == DeviceHolder::Kind::unseen)
    return "a process, perhaps, on " + holder.holds + ": " + holder.problem;
  if (holder.kind == DeviceHolder::Kind::process) return to_text(process) + " on " + holder.holds;
  const char* const role = holder.init_container ? ", init container " : ", container ";
  const std::string container = process.pod_container.empty() ? "" : role + process.pod_container;
  return fmt::format("pod {}{} (kubelet gave it the device{}; no process was found) on {}", process.pod, container,
                     holder.from_checkpoint ? ", as its checkpoint says" : "", holder.holds);
}

std::vector<std::string> texts_of(const std::vector<DeviceHolder>& holders) {
  std::vector<std::string> texts;
  for (const DeviceHolder& each : holders) texts.push_back(to_text(each));
  return texts;
}

std::vector<std::string> first_few_of(std::vector<std::string> texts) {
  constexpr std::size_t kMost = 16;
  if (texts.size() <= kMost) return texts;
  std::string rest = fmt::format("{} more", texts.size() - kMost);
  texts.resize(kMost);
  texts.push_back(std::move(rest));
  return texts;
}

std::vector<std::string> few_texts_of(const std::vector<DeviceHolder>& holders) {
  return first_few_of(texts_of(holders));
}

std::string how_to_end(const std::vector<DeviceHolder>& holders) {
  std::vector<std::string> ways;
  for (const DeviceHolder& each : holders) {
    const std::string way = each.next.empty() ? "stop the processes that use it" : each.next;
    if (std::ranges::count(ways, way) == 0) ways.push_back(way);
  }
  constexpr std::size_t kMostWays = 3;
  return ways.empty() ? "stop the processes that use it" : first_few(ways, kMostWays);
}

}  // namespace slipway::nvidia::drain
