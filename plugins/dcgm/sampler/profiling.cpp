// SPDX-License-Identifier: Apache-2.0
// Profiling metrics (GPM, Hopper and newer): NVML computes them from two of its samples.
#include <memory>
#include <utility>

#include "dcgm/sampler/field_reader.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

bool has_profiling(nvml::Nvml& nvml, nvmlDevice_t gpu) {
  const auto support = nvml.ask<nvmlGpmSupport_t>([gpu](const nvml::Library& open, nvmlGpmSupport_t& value) {
    value.version = 1;
    return nvml::invoke(open.function<nvmlDevice_t, nvmlGpmSupport_t*>("nvmlGpmQueryDeviceSupport"), gpu, &value);
  });
  return support && support->isSupportedDevice != 0;
}

nvmlReturn_t make_room(nvml::Nvml& nvml, nvmlGpmSample_t& sample) {
  if (sample != nullptr) return NVML_SUCCESS;
  const auto made = nvml.ask<nvmlGpmSample_t>([](const nvml::Library& open, nvmlGpmSample_t& value) {
    return nvml::invoke(open.function<nvmlGpmSample_t*>("nvmlGpmSampleAlloc"), &value);
  });
  sample = *made;
  return made.code();
}

nvmlReturn_t take(nvml::Nvml& nvml, nvmlDevice_t gpu, unsigned instance, nvmlGpmSample_t sample) {
  return nvml
      .ask<int>([=](const nvml::Library& open, int&) {
        if (instance == NVML_NO_INSTANCE)
          return nvml::invoke(open.function<nvmlDevice_t, nvmlGpmSample_t>("nvmlGpmSampleGet"), gpu, sample);
        return nvml::invoke(open.function<nvmlDevice_t, unsigned, nvmlGpmSample_t>("nvmlGpmMigSampleGet"), gpu,
                            instance, sample);
      })
      .code();
}

}  // namespace

void GpuHistory::release(nvml::Nvml& nvml) {
  for (auto& [place, profile] : profiles)
    for (const nvmlGpmSample_t sample : {profile.last, profile.spare})
      if (sample != nullptr)
        (void)nvml
            .ask<int>([sample](const nvml::Library& open, int&) {
              return nvml::invoke(open.function<nvmlGpmSample_t>("nvmlGpmSampleFree"), sample);
            })
            .ok();
  profiles.clear();
}

/// The first read has nothing to compare with: it returns "no data".
nvmlReturn_t FieldReader::ask_profiling() {
  if (!history_.profiling_support) history_.profiling_support = has_profiling(nvml_, gpu_);
  if (!*history_.profiling_support) return NVML_ERROR_NOT_SUPPORTED;
  const unsigned instance = instance_ ? instance_->id : static_cast<unsigned>(NVML_NO_INSTANCE);
  if (instance_ && instance_->device == nullptr) return NVML_ERROR_NOT_SUPPORTED;
  GpuHistory::Profile& profile = history_.profiles[{every_, instance}];
  for (nvmlGpmSample_t* sample : {&profile.last, &profile.spare})
    if (const nvmlReturn_t made = make_room(nvml_, *sample); made != NVML_SUCCESS) return made;
  if (const nvmlReturn_t taken = take(nvml_, gpu_, instance, profile.spare); taken != NVML_SUCCESS) return taken;
  std::swap(profile.last, profile.spare);
  if (!std::exchange(profile.taken, true)) return NVML_ERROR_NO_DATA;
  const auto request = std::make_unique<nvmlGpmMetricsGet_t>();
  request->version = 1;
  request->sample1 = profile.spare;  // the sample before the last
  request->sample2 = profile.last;
  for (const auto* list : {&counters_.series, &counters_.labels})
    for (const Counter& counter : *list)
      if (counter.every == every_ && counter.field->source == Source::profiling &&
          request->numMetrics < NVML_GPM_METRIC_MAX)
        request->metrics[request->numMetrics++].metricId = counter.field->argument;
  const auto asked = nvml_.ask<int>([request = request.get()](const nvml::Library& open, int&) {
    return nvml::invoke(open.function<nvmlGpmMetricsGet_t*>("nvmlGpmMetricsGet"), request);
  });
  if (asked)
    for (unsigned i = 0; i < request->numMetrics; ++i)
      profiling_.emplace(request->metrics[i].metricId, request->metrics[i]);
  return asked.code();
}

}  // namespace slipway::dcgm
