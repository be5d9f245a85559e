// SPDX-License-Identifier: Apache-2.0
#include "dcgm/pods/attribution.hpp"

#include <algorithm>

namespace slipway::dcgm {
namespace {

/// Returns the names under which kubelet may list the entity.
std::vector<std::string> keys_of(const Entity& entity, const AttributionSettings& settings) {
  const std::string name = "nvidia" + std::to_string(entity.gpu.index);
  if (!entity.instance) return {settings.by_device_name ? name : entity.gpu.uuid};
  const std::string instance = std::to_string(*entity.instance);
  std::vector<std::string> keys = entity.mig_devices;
  keys.push_back(entity.gpu.uuid + "/" + instance);
  keys.push_back(name + "/gi" + instance);
  return keys;
}

void add_pod(const GpuPod& holder, const AttributionSettings& settings, Use& use) {
  use.labels.emplace_back(settings.old_names ? "container_name" : "container", holder.container);
  use.labels.emplace_back(settings.old_names ? "pod_namespace" : "namespace", holder.pod_namespace);
  use.labels.emplace_back(settings.old_names ? "pod_name" : "pod", holder.pod);
}

/// Returns the use by a pod's processes; a pod without processes uses nothing.
std::optional<PodUse> own_use(const GpuPod& holder, const Entity& entity) {
  if (!entity.processes) return std::nullopt;
  const std::string name = holder.pod_namespace + "/" + holder.pod;
  PodUse use;
  const bool percent_known = !entity.instance && std::ranges::all_of(*entity.processes, [](const ProcessUse& each) {
    return each.percent.has_value();
  });
  if (percent_known) use.percent = 0;
  for (const ProcessUse& process : *entity.processes) {
    if (process.pod != name) continue;
    if (percent_known) *use.percent += *process.percent;
    use.memory_mib += static_cast<std::int64_t>(process.memory_bytes >> 20U);
  }
  return use;
}

std::vector<Use> uses_by_pods(const Entity& entity, const Attribution& known, const AttributionSettings& settings) {
  const std::vector<GpuPod> holders = gpu_pods_of(entity, known, settings);
  std::vector<Use> uses;
  if (holders.empty()) return {Use()};
  // Of several containers, dcgm-exporter takes the one that kubelet lists last, in any order; here it is always the
  // same one.
  if (!settings.virtual_gpus) {
    add_pod(holders.back(), settings, uses.emplace_back());
    return uses;
  }
  for (const GpuPod& holder : holders) {
    Use& use = uses.emplace_back();
    add_pod(holder, settings, use);
    if (!holder.replica.empty()) use.labels.emplace_back("vgpu", holder.replica);
    use.own = own_use(holder, entity);
  }
  return uses;
}

}  // namespace

std::vector<GpuPod> gpu_pods_of(const Entity& entity, const Attribution& known, const AttributionSettings& settings) {
  std::vector<GpuPod> holders;
  for (const std::string& key : keys_of(entity, settings))
    if (const auto found = known.holders.find(key); found != known.holders.end())
      holders.insert(holders.end(), found->second.begin(), found->second.end());
  return holders;
}

std::vector<Use> uses_of(const Entity& entity, const Attribution& known, const AttributionSettings& settings) {
  std::vector<Use> uses = uses_by_pods(entity, known, settings);
  std::string file = std::to_string(entity.gpu.index);
  if (entity.instance) file += "." + std::to_string(*entity.instance);
  if (const auto jobs = known.jobs.find(file); jobs != known.jobs.end()) {
    std::vector<Use> with_jobs;
    for (const Use& use : uses)
      for (const std::string& job : jobs->second) {
        with_jobs.push_back(use);
        with_jobs.back().labels.emplace_back("hpc_job", job);
      }
    uses = std::move(with_jobs);
  }
  for (Use& use : uses) std::ranges::sort(use.labels);
  return uses;
}

}  // namespace slipway::dcgm
