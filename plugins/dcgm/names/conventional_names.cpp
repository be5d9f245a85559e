// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "dcgm/names/family.hpp"
#include "dcgm/names/name_sets.hpp"

namespace slipway::dcgm {
namespace {

constexpr double kPercentToRatio = 0.01;
constexpr double kMilliToOne = 0.001;
constexpr double kNanoToOne = 1e-9;
constexpr double kMegaToOne = 1e6;

constexpr const char* kClock = "Clock now";
constexpr const char* kCorrected = "Memory errors that ECC corrected: since the driver was loaded, and ever";
constexpr const char* kUncorrected = "Memory errors that ECC could not correct: since the driver was loaded, and ever";
constexpr const char* kThrottled = "Time for which clocks were reduced, by reason";
constexpr const char* kRemapped = "Rows of memory that were remapped, by the errors that they had";

constexpr std::array kRowsOfFamilies{
    FamilyRow{"nvidia_gpu_utilization_ratio", "gauge", "Share of time in which a kernel ran", 203, kPercentToRatio},
    FamilyRow{"nvidia_gpu_memory_utilization_ratio", "gauge", "Share of time in which memory was read or written", 204,
              kPercentToRatio},
    FamilyRow{"nvidia_gpu_encoder_utilization_ratio", "gauge", "Use of the video encoders", 206, kPercentToRatio},
    FamilyRow{"nvidia_gpu_decoder_utilization_ratio", "gauge", "Use of the video decoders", 207, kPercentToRatio},
    FamilyRow{"nvidia_gpu_memory_total_bytes", "gauge", "Memory, with what the driver keeps for itself",
              kMemoryTotalBytes},
    FamilyRow{"nvidia_gpu_memory_used_bytes", "gauge", "Memory in use", kMemoryUsedBytes},
    FamilyRow{"nvidia_gpu_memory_free_bytes", "gauge", "Memory that is free", kMemoryFreeBytes},
    FamilyRow{"nvidia_gpu_memory_reserved_bytes", "gauge", "Memory that the driver keeps for itself",
              kMemoryReservedBytes},
    FamilyRow{"nvidia_gpu_temperature_celsius", "gauge", "Temperature of the core", 150},
    FamilyRow{"nvidia_gpu_memory_temperature_celsius", "gauge", "Temperature of the memory", 140},
    FamilyRow{"nvidia_gpu_power_watts", "gauge", "Power draw of the board", 155},
    FamilyRow{"nvidia_gpu_power_limit_watts", "gauge", "Enforced power limit", 164},
    FamilyRow{"nvidia_gpu_energy_joules_total", "counter", "Energy used since the driver was loaded", 156, kMilliToOne},
    FamilyRow{"nvidia_gpu_clock_hertz", "gauge", kClock, 100, kMegaToOne, "clock", "sm"},
    FamilyRow{"nvidia_gpu_clock_hertz", "gauge", kClock, 101, kMegaToOne, "clock", "memory"},
    FamilyRow{"nvidia_gpu_ecc_errors_corrected_total", "counter", kCorrected, 310, 1, "scope", "volatile"},
    FamilyRow{"nvidia_gpu_ecc_errors_corrected_total", "counter", kCorrected, 312, 1, "scope", "aggregate"},
    FamilyRow{"nvidia_gpu_ecc_errors_uncorrected_total", "counter", kUncorrected, 311, 1, "scope", "volatile"},
    FamilyRow{"nvidia_gpu_ecc_errors_uncorrected_total", "counter", kUncorrected, 313, 1, "scope", "aggregate"},
    FamilyRow{"nvidia_gpu_throttle_seconds_total", "counter", kThrottled, 240, kNanoToOne, "reason", "power"},
    FamilyRow{"nvidia_gpu_throttle_seconds_total", "counter", kThrottled, 241, kNanoToOne, "reason", "thermal"},
    FamilyRow{"nvidia_gpu_throttle_seconds_total", "counter", kThrottled, 242, kNanoToOne, "reason", "sync_boost"},
    FamilyRow{"nvidia_gpu_throttle_seconds_total", "counter", kThrottled, 243, kNanoToOne, "reason", "board_limit"},
    FamilyRow{"nvidia_gpu_throttle_seconds_total", "counter", kThrottled, 244, kNanoToOne, "reason", "low_utilization"},
    FamilyRow{"nvidia_gpu_throttle_seconds_total", "counter", kThrottled, 245, kNanoToOne, "reason", "reliability"},
    FamilyRow{"nvidia_gpu_pcie_replays_total", "counter", "Packets of PCIe that were sent again", 202},
    FamilyRow{"nvidia_gpu_remapped_rows_total", "counter", kRemapped, 394, 1, "errors", "correctable"},
    FamilyRow{"nvidia_gpu_remapped_rows_total", "counter", kRemapped, 393, 1, "errors", "uncorrectable"},
    FamilyRow{"nvidia_gpu_row_remap_failed", "gauge", "Whether a row could not be remapped", 395},
    FamilyRow{"nvidia_gpu_last_xid", "gauge", "Number of the last XID; 0: there was none", 230},
    FamilyRow{"nvidia_gpu_nvlink_transmit_bytes_total", "counter", "Data sent over all NVLinks", kNvlinkSentBytes},
    FamilyRow{"nvidia_gpu_nvlink_receive_bytes_total", "counter", "Data received over all NVLinks",
              kNvlinkReceivedBytes},
    FamilyRow{"nvidia_gpu_engine_active_ratio", "gauge", "Share of time in which the graphics engine was active", 1001},
    FamilyRow{"nvidia_gpu_tensor_active_ratio", "gauge", "Share of cycles in which a tensor pipe was active", 1004},
    FamilyRow{"nvidia_gpu_memory_active_ratio", "gauge", "Share of cycles in which the memory moved data", 1005},
};

struct InfoLabel {
  unsigned field;
  const char* name;
};
// Sorted by the fields' numbers.
constexpr std::array kInfo{InfoLabel{1, "driver_version"}, InfoLabel{53, "serial"}, InfoLabel{85, "vbios_version"}};

/// True for families that belong to the articles' set if both sets are wanted.
bool also_in_articles(std::string_view name) {
  return name == "nvidia_gpu_memory_used_bytes" || name == "nvidia_gpu_memory_total_bytes" ||
         name == "nvidia_gpu_temperature_celsius" || name == "nvidia_gpu_ecc_errors_corrected_total";
}

using Labels = std::vector<std::pair<std::string, std::string>>;

/// True for values that only the whole GPU has. They appear once: summed over the instances they would be a multiple of
/// the real value.
bool is_of_whole_gpu(unsigned number) {
  const Field* const field = find_field(number);
  return field != nullptr && !field->per_instance() && field->source != Source::xid;
}

/// True for the first instance of each GPU, which stands for the GPU.
bool stands_for_gpu(const Sample& sample, const Entity& entity) {
  const auto first = std::ranges::find_if(
      sample.entities, [&](const Entity& other) { return other.gpu.uuid == entity.gpu.uuid && other.instance; });
  return first != sample.entities.end() && &*first == &entity;
}

/// Returns the labels of the GPU or its instance, and of its users.
Labels labels_of(const Entity& entity, const Use& use, const Exporter& exporter) {
  Labels labels{{"gpu", std::to_string(entity.gpu.index)}, {"uuid", entity.gpu.uuid}};
  if (entity.instance) labels.emplace_back("gpu_instance_id", std::to_string(*entity.instance));
  if (!exporter.host_name.empty()) labels.emplace_back("node", exporter.host_name);
  labels.insert(labels.end(), use.labels.begin(), use.labels.end());
  return labels;
}

MetricsText::Labels view(const Labels& labels) { return {labels.begin(), labels.end()}; }

void add_info(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter) {
  text.begin("nvidia_gpu_info", "The GPU: its model, its place, the versions of its software; always 1", "gauge");
  for (const Entity& entity : sample.entities) {
    Labels labels = labels_of(entity, Use(), exporter);
    labels.emplace_back("pci_bus_id", entity.gpu.bus_id);
    labels.emplace_back("model", entity.gpu.model);
    if (entity.instance) labels.emplace_back("gpu_instance_profile", entity.profile);
    for (const InfoLabel& each : kInfo)
      if (const Value* const value = value_of(counters, entity, each.field))
        if (std::string known = value_text(*value); !known.empty()) labels.emplace_back(each.name, std::move(known));
    text.sample(view(labels), 1);
  }
}

}  // namespace

std::vector<unsigned> conventional_fields() {
  std::vector<unsigned> numbers;
  for (const InfoLabel& each : kInfo) numbers.push_back(each.field);
  for (const FamilyRow& row : kRowsOfFamilies) numbers.push_back(row.field);
  return numbers;
}

void add_conventional(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter) {
  if (sample.entities.empty()) return;
  using Lines = std::vector<std::pair<const Entity*, Labels>>;
  Lines lines;
  Lines of_gpus;
  for (const Entity& entity : sample.entities) {
    for (const Use& use : uses_of(entity, exporter.known, exporter.attribution)) {
      lines.emplace_back(&entity, labels_of(entity, use, exporter));
      if (!entity.instance) of_gpus.push_back(lines.back());
    }
    if (!entity.instance || !stands_for_gpu(sample, entity)) continue;
    const Entity gpu{.gpu = entity.gpu};
    of_gpus.emplace_back(&entity, labels_of(gpu, Use(), exporter));
  }
  std::string_view begun;
  for (const FamilyRow& row : kRowsOfFamilies) {
    if (exporter.names.articles && also_in_articles(row.name)) continue;
    for (const auto& [entity, labels] : is_of_whole_gpu(row.field) ? of_gpus : lines) {
      const std::string value = scaled_text(counters, *entity, row.field, row.factor);
      if (value.empty()) continue;
      if (begun != row.name) text.begin(row.name, row.help, row.type);
      begun = row.name;
      MetricsText::Labels all = view(labels);
      if (row.label != nullptr) all.emplace_back(row.label, row.label_value);
      text.sample(all, value);
    }
  }
  add_info(text, sample, counters, exporter);
}

}  // namespace slipway::dcgm
