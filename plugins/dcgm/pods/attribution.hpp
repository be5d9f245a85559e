// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/attribution.hpp - the users of a GPU or a GPU instance, as labels of its series: pods, containers,
// jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dcgm/pods/jobs.hpp"
#include "dcgm/sampler/sample.hpp"
#include "nvidia/kubelet/gpu_pods.hpp"

namespace slipway::dcgm {

using nvidia::kubelet::GpuPod;
using nvidia::kubelet::GpuPods;

/// The component's keys about attribution.
struct AttributionSettings {
  bool kubernetes = false;      ///< asks kubelet
  bool virtual_gpus = false;    ///< a series for each of the pods that share a GPU
  bool by_device_name = false;  ///< GPUs are "nvidia0" for kubelet, as on GKE, not UUIDs
  bool old_names = false;       ///< labels pod_name, pod_namespace, container_name
  std::vector<std::string> resource_names;
  bool any_resource = false;  ///< slipway's deviceplugin offers the GPUs, under resource names that its config may
                              ///< change
  std::string kubelet_socket;
  std::string job_folder;  ///< empty: there are no jobs

  bool wanted() const { return kubernetes || !job_folder.empty(); }
};

/// The users of the GPUs at one moment.
struct Attribution {
  GpuPods holders;
  Jobs jobs;
  std::string pods_problem;  ///< why kubelet's list of pods is missing
  std::string jobs_problem;

  bool operator==(const Attribution&) const = default;
};

/// A pod's use of a GPU, summed over its processes.
struct PodUse {
  std::optional<std::int64_t> percent;  ///< share of the time of the multiprocessors; unknown for GPU instances
  std::int64_t memory_mib = 0;
};

/// The labels of one series of each metric, besides those of the GPU.
struct Use {
  std::vector<std::pair<std::string, std::string>> labels;  ///< by name
  std::optional<PodUse> own;                                ///< values of this pod alone, instead of the GPU's
};

/// Returns the containers that hold the entity, according to kubelet.
std::vector<GpuPod> gpu_pods_of(const Entity& entity, const Attribution& known, const AttributionSettings& settings);

/// Returns at least one; without labels if nothing uses the entity.
std::vector<Use> uses_of(const Entity& entity, const Attribution& known, const AttributionSettings& settings);

}  // namespace slipway::dcgm
