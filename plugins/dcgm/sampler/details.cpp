// SPDX-License-Identifier: Apache-2.0
#include "dcgm/sampler/details.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "dcgm/counters/field.hpp"
#include "dcgm/sampler/field_reader.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

/// Numbers of DCGM's fields.
constexpr unsigned kClockField = 100;
constexpr unsigned kMostClockField = 113;
constexpr unsigned kTemperatureField = 150;
constexpr unsigned kPowerField = 155;
constexpr unsigned kPowerLimitField = 164;

std::optional<double> number_of(FieldReader& reader, unsigned field) {
  const auto value = reader.read({.field = find_field(field)});
  if (!value) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&*value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&*value)) return *real;
  return std::nullopt;
}

void read_memory(FieldReader& reader, nvmlDevice_t device, std::uint64_t& used, std::uint64_t& total) {
  const auto& memory = reader.memory_of(device);
  if (!memory) return;
  used = memory->used;
  total = memory->total;
}

void read_instances(FieldReader& reader, const MigLayout& layout, GpuDetails& details) {
  details.mig_enabled = layout.mode.current;
  details.mig_pending = layout.mode.current != layout.mode.pending;
  if (!layout.mode.current) return;
  details.slices = layout.slices;
  for (const MigInstance& each : layout.instances) {
    InstanceDetails instance;
    instance.id = each.id;
    instance.profile = each.profile;
    instance.start = each.place.start;
    instance.size = std::max(each.place.size, 1U);
    details.slices = std::max(details.slices, instance.start + instance.size);
    if (each.device != nullptr) read_memory(reader, each.device, instance.memory_used, instance.memory_total);
    details.instances.push_back(std::move(instance));
  }
  std::ranges::stable_sort(details.instances, {}, &InstanceDetails::start);
}

/// Returns the kernel's name of the process. NVML reads the name from the arguments in the process' memory, and the
/// process can delay that read for as long as it likes, which would block the whole GPU.
std::string name_of(nvml::Nvml& nvml, unsigned pid, const std::string& proc) {
  constexpr std::size_t kMostNameBytes = 64;
  if (const auto name = read_regular(proc + "/" + std::to_string(pid) + "/comm", kMostNameBytes))
    return std::string(trimmed(*name));
  return short_name_of(nvml::process_name(nvml, pid).value_or(""));  // the process is gone, or simulated
}

void read_processes(nvml::Nvml& nvml, nvmlDevice_t gpu, const std::string& proc, FieldReader& reader,
                    GpuDetails& details) {
  std::map<std::pair<unsigned, unsigned>, ProcessDetails> all;  // a process that computes and draws is in both lists
  for (const auto kind : {nvml::ProcessKind::compute, nvml::ProcessKind::mps, nvml::ProcessKind::graphics}) {
    const auto& list = reader.processes_of(gpu, kind);
    for (const nvml::Process& each : *list) {
      ProcessDetails& process = all[{each.pid, each.gpu_instance.value_or(NVML_NO_INSTANCE)}];
      process.pid = each.pid;
      process.instance = each.gpu_instance;
      if (each.memory_bytes) process.memory = std::max(process.memory.value_or(0), *each.memory_bytes);
    }
  }
  for (auto& [place, process] : all) details.processes.push_back(std::move(process));
  std::ranges::stable_sort(details.processes, std::greater{},
                           [](const ProcessDetails& each) { return each.memory.value_or(0); });
  if (details.processes.size() > GpuDetails::kMostProcesses) {
    details.more_processes = details.processes.size() - GpuDetails::kMostProcesses;
    details.processes.resize(GpuDetails::kMostProcesses);
  }
  for (ProcessDetails& process : details.processes) process.name = name_of(nvml, process.pid, proc);
}

}  // namespace

std::string short_name_of(const std::string& program) {
  const std::size_t folder = program.find(' ') == std::string::npos ? program.rfind('/') : std::string::npos;
  std::string name = folder == std::string::npos ? program : program.substr(folder + 1);
  if (name.size() <= GpuDetails::kLongestName) return name;
  std::size_t end = GpuDetails::kLongestName - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;  // do not cut inside a character
  return name.substr(0, end) + "...";
}

std::shared_ptr<const GpuDetails> read_details(nvml::Nvml& nvml, nvmlDevice_t gpu, const std::string& proc,
                                               FieldReader& reader, const MigLayout& layout) {
  auto details = std::make_shared<GpuDetails>();
  details->utilization = number_of(reader, kUtilizationField);
  details->temperature = number_of(reader, kTemperatureField);
  details->power = number_of(reader, kPowerField);
  details->power_limit = number_of(reader, kPowerLimitField);
  details->clock = number_of(reader, kClockField);
  details->clock_most = number_of(reader, kMostClockField);
  read_memory(reader, gpu, details->memory_used, details->memory_total);
  read_instances(reader, layout, *details);
  read_processes(nvml, gpu, proc, reader, *details);
  return details;
}

}  // namespace slipway::dcgm
