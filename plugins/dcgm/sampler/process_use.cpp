// SPDX-License-Identifier: Apache-2.0
// The use of a GPU or of a GPU instance by each process.
#include <algorithm>

#include "dcgm/sampler/field_reader.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;
using Samples = std::vector<nvmlProcessUtilizationSample_t>;

/// Reads all samples that the driver has kept.
nvml::Answer<Samples> utilization_samples(nvml::Nvml& nvml, nvmlDevice_t device) {
  return nvml.ask<Samples>([device](const nvml::Library& open, Samples& samples) {
    constexpr unsigned kMost = 4096;
    const auto function = open.function<nvmlDevice_t, nvmlProcessUtilizationSample_t*, unsigned*, unsigned long long>(
        "nvmlDeviceGetProcessUtilization");
    unsigned count = 0;
    nvmlReturn_t code =
        nvml::invoke(function, device, static_cast<nvmlProcessUtilizationSample_t*>(nullptr), &count, 0ULL);
    if (code == NVML_ERROR_NOT_FOUND) return static_cast<nvmlReturn_t>(NVML_SUCCESS);  // no process used the GPU
    if (code != NVML_ERROR_INSUFFICIENT_SIZE || count > kMost) return code;
    samples.resize(count);
    code = function(device, samples.data(), &count, 0ULL);
    samples.resize(code == NVML_SUCCESS ? std::min<std::size_t>(count, samples.size()) : 0);
    return code;
  });
}

}  // namespace

const FieldReader::Processes& FieldReader::processes_of(nvmlDevice_t device, nvml::ProcessKind kind) {
  const std::pair<nvmlDevice_t, nvml::ProcessKind> question{device, kind};
  const auto known = processes_.find(question);
  if (known != processes_.end()) return known->second;
  return processes_.emplace(question, nvml::processes(nvml_, device, kind)).first->second;
}

std::vector<ProcessUse> FieldReader::read_processes() {
  const nvmlDevice_t device = instance_ ? instance_->device : gpu_;
  std::vector<ProcessUse> uses;
  if (device == nullptr) return uses;
  for (const auto kind : {nvml::ProcessKind::compute, nvml::ProcessKind::mps}) {
    const auto& processes = processes_of(device, kind);
    for (const nvml::Process& process : *processes)
      uses.push_back({.pid = process.pid, .memory_bytes = process.memory_bytes.value_or(0)});
  }
  if (instance_ || uses.empty()) return uses;
  const auto samples = utilization_samples(nvml_, gpu_);
  if (!samples) return uses;
  for (ProcessUse& use : uses) use.percent = 0;
  for (const nvmlProcessUtilizationSample_t& sample : *samples)
    for (ProcessUse& use : uses)
      if (use.pid == sample.pid) use.percent = sample.smUtil;  // the newest of each process comes last
  return uses;
}

}  // namespace slipway::dcgm
