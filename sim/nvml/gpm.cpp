// SPDX-License-Identifier: Apache-2.0
// GPM: profiling metrics from two samples.
#include <cstdlib>

#include "nvidia/nvml/abi/sample.h"
#include "sim/nvml/call.hpp"
#include "sim/nvml/load.hpp"

struct nvmlGpmSample_st {
  std::int64_t taken_ns;
  std::uint32_t percent;
  std::uint64_t link_bytes;
  std::uint32_t links;
};

namespace slipway::sim {
namespace {

char text_none[] = "";
char text_percent[] = "%";
char text_rate[] = "MiB/s";

nvmlReturn_t take(Function function, nvmlDevice_t device, nvmlGpmSample_t sample, const std::uint32_t* instance) {
  return with_target(function, device, [=](Machine& machine, const Target& target) -> nvmlReturn_t {
    if (sample == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (target.gpu->model.gpm == 0) return NVML_ERROR_NOT_SUPPORTED;
    if (instance != nullptr) {
      bool existing = false;
      for (const GpuInstance& each : target.gpu->instances)
        existing = existing || (each.used != 0 && each.id == *instance);
      if (!existing) return NVML_ERROR_NOT_FOUND;
    }
    *sample = {now_ns(), utilisation_now(*target.gpu), link_bytes(machine, *target.gpu), target.gpu->model.links};
    return NVML_SUCCESS;
  });
}

/// Computes the metric between two samples, in percent or MiB per second.
nvmlReturn_t compute(nvmlGpmMetric_t& metric, const nvmlGpmSample_st& first, const nvmlGpmSample_st& second) {
  const double percent = (first.percent + second.percent) / 2.0;
  const double seconds = static_cast<double>(second.taken_ns - first.taken_ns) / 1e9;
  const double rate = static_cast<double>(second.link_bytes - first.link_bytes) / seconds / (1 << 20);
  const unsigned id = metric.metricId;
  metric.metricInfo = {text_none, text_none, text_percent};
  metric.value = 0;
  if (id >= 1 && id <= 4)
    metric.value = percent;
  else if (id >= 5 && id <= 13)
    metric.value = percent / 2;
  else if (id == 20 || id == 21)
    metric.value = percent * 10;
  else if (id == 60 || id == 61)
    metric.value = rate;
  else if (id >= 62 && id <= 97 && second.links > 0)
    metric.value = (id - 62) / 2 < second.links ? rate / second.links : 0;
  else if (id < 1 || id > 209)
    return NVML_ERROR_NOT_SUPPORTED;
  if (id == 20 || id == 21 || (id >= 60 && id <= 97)) metric.metricInfo.unit = text_rate;
  return NVML_SUCCESS;
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t* support) {
  return with_any_device(Function::nvmlGpmQueryDeviceSupport, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (support == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (support->version != 1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    support->isSupportedDevice = gpu.model.gpm;
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  return with_machine(Function::nvmlGpmSampleAlloc, [=](Machine&) -> nvmlReturn_t {
    if (sample == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *sample = static_cast<nvmlGpmSample_t>(calloc(1, sizeof(nvmlGpmSample_st)));
    return *sample == nullptr ? NVML_ERROR_MEMORY : NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  return with_machine(Function::nvmlGpmSampleFree, [=](Machine&) -> nvmlReturn_t {
    if (sample == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    free(sample);
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
  return take(Function::nvmlGpmSampleGet, device, sample, nullptr);
}
SLIPWAY_NVML_EXPORT nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned instance, nvmlGpmSample_t sample) {
  return take(Function::nvmlGpmMigSampleGet, device, sample, &instance);
}
SLIPWAY_NVML_EXPORT nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* request) {
  Call call(Function::nvmlGpmMetricsGet);
  if (call.ready() != NVML_SUCCESS) return call.ready();
  if (request == nullptr || request->sample1 == nullptr || request->sample2 == nullptr)
    return NVML_ERROR_INVALID_ARGUMENT;
  if (request->version != 1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  if (request->numMetrics > NVML_GPM_METRIC_MAX || request->sample2->taken_ns <= request->sample1->taken_ns)
    return NVML_ERROR_INVALID_ARGUMENT;
  call.take_time({.processor_us = request->numMetrics * call.machine().costs.gpm_metric_us, .wall_us = 0});
  for (unsigned i = 0; i < request->numMetrics; ++i)
    request->metrics[i].nvmlReturn = compute(request->metrics[i], *request->sample1, *request->sample2);
  return NVML_SUCCESS;
}
