// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/event.hpp"

#include <algorithm>
#include <iterator>

namespace slipway::nvidia::nvml {
namespace {

/// Driver 580 leaves some fields unchanged, without an error, if the call has other fields of a feature that the GPU
/// lacks: the power limits beside a C2C link, on an H200.
bool was_passed_over(const nvmlFieldValue_t& field) {
  return field.nvmlReturn == NVML_SUCCESS && field.timestamp == 0 && field.valueType == NVML_VALUE_TYPE_DOUBLE;
}

}  // namespace

Answer<std::shared_ptr<EventSet>> EventSet::create(Nvml& nvml) {
  const auto made = nvml.ask<nvmlEventSet_t>([](const Library& library, nvmlEventSet_t& set) {
    return invoke(library.function<nvmlEventSet_t*>("nvmlEventSetCreate"), &set);
  });
  if (!made) return made.code();
  return {NVML_SUCCESS, std::shared_ptr<EventSet>(new EventSet(nvml, *made))};
}

EventSet::~EventSet() {
  const nvmlEventSet_t set = set_;
  if (set == nullptr) return;
  (void)nvml_
      .ask<int>([set](const Library& library, int&) {
        return invoke(library.function<nvmlEventSet_t>("nvmlEventSetFree"), set);
      })
      .ok();
}

Answer<int> EventSet::add(nvmlDevice_t gpu, unsigned long long types) {
  const nvmlEventSet_t set = set_;
  return nvml_.ask<int>([=](const Library& library, int&) {
    unsigned long long supported = 0;
    const nvmlReturn_t code = invoke(
        library.function<nvmlDevice_t, unsigned long long*>("nvmlDeviceGetSupportedEventTypes"), gpu, &supported);
    if (code != NVML_SUCCESS) return code;
    return invoke(library.function<nvmlDevice_t, unsigned long long, nvmlEventSet_t>("nvmlDeviceRegisterEvents"), gpu,
                  types & supported, set);
  });
}

// The limit is enforced by the library, well below that of calls: the caller splits longer waits.
Answer<nvmlEventData_t> EventSet::wait(std::chrono::milliseconds limit) {
  const nvmlEventSet_t set = set_;
  const auto milliseconds = static_cast<unsigned>(std::max<std::chrono::milliseconds::rep>(0, limit.count()));
  return nvml_.ask<nvmlEventData_t>(
      [=](const Library& library, nvmlEventData_t& data) { return wait_for_event(library, set, milliseconds, data); });
}

nvmlReturn_t wait_for_event(const Library& library, nvmlEventSet_t set, unsigned milliseconds, nvmlEventData_t& data) {
  const auto newer = library.function<nvmlEventSet_t, nvmlEventData_t*, unsigned>("nvmlEventSetWait_v2");
  if (newer != nullptr) return newer(set, &data, milliseconds);
  data.gpuInstanceId = data.computeInstanceId = NVML_NO_INSTANCE;  // the older function fills a shorter layout
  return invoke(library.function<nvmlEventSet_t, nvmlEventData_t*, unsigned>("nvmlEventSetWait"), set, &data,
                milliseconds);
}

Answer<std::vector<nvmlFieldValue_t>> field_values(Nvml& nvml, nvmlDevice_t device, const std::vector<unsigned>& fields,
                                                   unsigned scope) {
  using Values = std::vector<nvmlFieldValue_t>;
  return nvml.ask<Values>([=](const Library& library, Values& values) {
    for (const unsigned field : fields) values.push_back({.fieldId = field, .scopeId = scope});
    const auto function = library.function<nvmlDevice_t, int, nvmlFieldValue_t*>("nvmlDeviceGetFieldValues");
    const auto ask = [&](Values& asked) {
      return invoke(function, device, static_cast<int>(asked.size()), asked.data());
    };
    const nvmlReturn_t code = ask(values);
    if (code != NVML_SUCCESS || values.size() < 2) return code;
    Values again;
    std::ranges::copy_if(values, std::back_inserter(again), was_passed_over);
    if (again.empty() || ask(again) != NVML_SUCCESS) return code;
    auto next = again.begin();
    for (nvmlFieldValue_t& value : values)
      if (was_passed_over(value)) value = *next++;
    return code;
  });
}

std::optional<unsigned> asked_recovery_action(Nvml& nvml, nvmlDevice_t gpu) {
  constexpr unsigned kField = 230;  // NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
  const auto fields = field_values(nvml, gpu, {kField});
  if (!fields || fields->empty() || fields->front().nvmlReturn != NVML_SUCCESS) return std::nullopt;
  return static_cast<unsigned>(number_of(fields->front()));
}

double number_of(const nvmlFieldValue_t& field) {
  switch (field.valueType) {
    case NVML_VALUE_TYPE_DOUBLE:
      return field.value.dVal;
    case NVML_VALUE_TYPE_UNSIGNED_INT:
      return field.value.uiVal;
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
      return static_cast<double>(field.value.sllVal);
    case NVML_VALUE_TYPE_SIGNED_INT:
      return field.value.siVal;
    case NVML_VALUE_TYPE_UNSIGNED_SHORT:
      return field.value.usVal;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
      return static_cast<double>(field.value.ulVal);
    default:
      return static_cast<double>(field.value.ullVal);
  }
}

}  // namespace slipway::nvidia::nvml
