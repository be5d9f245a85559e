// SPDX-License-Identifier: Apache-2.0
#include "dcgm/page/details.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "dcgm/counters/field.hpp"
#include "dcgm/sampler/field_reader.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

/// Numbers of DCGM's fields.
constexpr unsigned kClockField = 100;
constexpr unsigned kTemperatureField = 150;
constexpr unsigned kPowerField = 155;
constexpr unsigned kPowerLimitField = 164;
constexpr unsigned kShaders = 1;  // nvmlClockType_t

std::optional<double> number_of(FieldReader& reader, unsigned field) {
  const auto value = reader.read({.field = find_field(field)});
  if (!value) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&*value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&*value)) return *real;
  return std::nullopt;
}

std::optional<double> most_clock(nvml::Nvml& nvml, nvmlDevice_t gpu) {
  const auto clock = nvml.ask<unsigned>([gpu](const nvml::Library& open, unsigned& value) {
    return nvml::invoke(open.function<nvmlDevice_t, unsigned, unsigned*>("nvmlDeviceGetMaxClockInfo"), gpu, kShaders,
                        &value);
  });
  return clock ? std::optional<double>(*clock) : std::nullopt;
}

/// The largest profile reaches over all slices of the memory.
unsigned slices_of(nvml::Nvml& nvml, nvmlDevice_t gpu, const std::vector<nvml::GpuInstanceProfile>& profiles) {
  const auto largest = std::ranges::max_element(profiles, {}, &nvml::GpuInstanceProfile::slices);
  unsigned slices = 1;
  if (largest == profiles.end()) return slices;
  const auto places = nvml::placements(nvml, gpu, largest->id);
  for (const nvmlGpuInstancePlacement_t& place : *places) slices = std::max(slices, place.start + place.size);
  return slices;
}

void read_memory(nvml::Nvml& nvml, nvmlDevice_t device, InstanceDetails& instance) {
  const auto memory = nvml::memory(nvml, device);
  if (!memory) return;
  instance.memory_used = memory->used;
  instance.memory_total = memory->total;
}

void read_instances(nvml::Nvml& nvml, nvmlDevice_t gpu, GpuHistory& history, GpuDetails& details) {
  const auto mode = nvml::mig_mode(nvml, gpu);
  if (!mode) return;
  details.mig_enabled = mode->current;
  details.mig_pending = mode->current != mode->pending;
  if (!mode->current) return;
  const std::vector<MigInstance> instances = mig_instances(nvml, gpu, history);
  details.slices = slices_of(nvml, gpu, history.mig_profiles);
  std::map<unsigned, nvmlGpuInstancePlacement_t> places;
  for (const nvml::GpuInstanceProfile& profile : history.mig_profiles) {
    const auto handles = nvml::gpu_instances(nvml, gpu, profile);
    for (const nvmlGpuInstance_t handle : *handles)
      if (const auto info = nvml::gpu_instance_info(nvml, handle)) places[info->id] = info->placement;
  }
  for (const MigInstance& each : instances) {
    InstanceDetails instance;
    instance.id = each.id;
    instance.profile = each.profile;
    if (const auto place = places.find(each.id); place != places.end()) {
      instance.start = place->second.start;
      instance.size = std::max(place->second.size, 1U);
      details.slices = std::max(details.slices, instance.start + instance.size);
    }
    if (each.device != nullptr) read_memory(nvml, each.device, instance);
    details.instances.push_back(std::move(instance));
  }
  std::ranges::stable_sort(details.instances, {}, &InstanceDetails::start);
}

/// As the kernel has it. NVML's is read from the arguments in the memory of the process, which can make whoever reads
/// them wait for as long as it likes, and the whole GPU with him.
std::string name_of(nvml::Nvml& nvml, unsigned pid, const std::string& proc) {
  constexpr std::size_t kMostNameBytes = 64;
  if (const auto name = read_regular(proc + "/" + std::to_string(pid) + "/comm", kMostNameBytes))
    return std::string(trimmed(*name));
  return short_name_of(nvml::process_name(nvml, pid).value_or(""));  // it is gone, or simulated
}

void read_processes(nvml::Nvml& nvml, nvmlDevice_t gpu, const std::string& proc, GpuDetails& details) {
  std::map<std::pair<unsigned, unsigned>, ProcessDetails> all;  // one that computes and draws is in both lists
  for (const auto kind : {nvml::ProcessKind::compute, nvml::ProcessKind::mps, nvml::ProcessKind::graphics}) {
    const auto list = nvml::processes(nvml, gpu, kind);
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
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;  // not inside a character
  return name.substr(0, end) + "...";
}

std::shared_ptr<const GpuDetails> read_details(nvml::Nvml& nvml, nvmlDevice_t gpu, const std::string& proc,
                                               GpuHistory& history) {
  static const Counters kNone;
  GpuHistory nothing_before;
  FieldReader reader(nvml, gpu, kNone, nothing_before);
  auto details = std::make_shared<GpuDetails>();
  details->utilization = number_of(reader, kUtilizationField);
  details->temperature = number_of(reader, kTemperatureField);
  details->power = number_of(reader, kPowerField);
  details->power_limit = number_of(reader, kPowerLimitField);
  details->clock = number_of(reader, kClockField);
  details->clock_most = most_clock(nvml, gpu);
  if (const auto memory = nvml::memory(nvml, gpu)) {
    details->memory_used = memory->used;
    details->memory_total = memory->total;
  }
  read_instances(nvml, gpu, history, *details);
  read_processes(nvml, gpu, proc, *details);
  return details;
}

}  // namespace slipway::dcgm
