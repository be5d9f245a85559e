// SPDX-License-Identifier: Apache-2.0
// Articles assume these names, and calculate ratios of them: so all have the same labels, and each GPU has one series,
// also with MIG, where a GPU has many instances and pods.
#include <array>

#include "dcgm/names/family.hpp"
#include "dcgm/names/name_sets.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::array kArticleRows{
    FamilyRow{"nvidia_gpu_utilization", "gauge", "Share of time in which a kernel ran, in percent", 203},
    FamilyRow{"nvidia_gpu_memory_used_bytes", "gauge", "Memory in use", kGpuMemoryUsedBytes},
    FamilyRow{"nvidia_gpu_memory_total_bytes", "gauge", "Memory, with what the driver keeps for itself",
              kGpuMemoryTotalBytes},
    FamilyRow{"nvidia_gpu_temperature_celsius", "gauge", "Temperature of the core", 150},
    FamilyRow{"nvidia_gpu_ecc_errors_corrected_total", "counter",
              "Memory errors that ECC corrected since the driver was loaded", 310},
    FamilyRow{"nvidia_nvlink_bandwidth_total_bytes", "counter", "Data sent and received over all NVLinks",
              kNvlinkBytes},
};

/// Returns the pod that has the whole GPU; of several pods always the same one.
std::string pod_of(const Entity& entity, const Exporter& exporter) {
  if (entity.instance) return {};
  AttributionSettings settings = exporter.attribution;
  settings.virtual_gpus = false;
  settings.old_names = false;
  const std::vector<Use> uses = uses_of(entity, exporter.known, settings);
  for (const auto& [name, value] : uses.front().labels)
    if (name == "pod") return value;
  return {};
}

}  // namespace

std::vector<unsigned> article_fields() {
  std::vector<unsigned> numbers;
  for (const FamilyRow& row : kArticleRows) numbers.push_back(row.field);
  return numbers;
}

void add_articles(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter) {
  struct Gpu {
    const Entity* entity;  ///< the GPU, or the first of its instances, which also carries the values of the whole GPU
    std::string index;
    std::string pod;
  };
  std::vector<Gpu> gpus;
  for (const Entity& entity : sample.entities)
    if (gpus.empty() || gpus.back().entity->gpu.index != entity.gpu.index)
      gpus.push_back({&entity, std::to_string(entity.gpu.index), pod_of(entity, exporter)});
  for (const FamilyRow& row : kArticleRows) {
    bool begun = false;
    for (const Gpu& gpu : gpus) {
      const std::string value = scaled_text(counters, *gpu.entity, row.field, row.factor);
      if (value.empty()) continue;
      if (!begun) text.begin(row.name, row.help, row.type);
      begun = true;
      text.sample({{"gpu", gpu.index}, {"pod", gpu.pod}, {"node", exporter.host_name}, {"uuid", gpu.entity->gpu.uuid}},
                  value);
    }
  }
}

}  // namespace slipway::dcgm
