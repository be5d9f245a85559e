// SPDX-License-Identifier: Apache-2.0
// Field values: many counters in one call, each with an answer of its own.
#include <algorithm>

#include "nvidia/nvml/abi/sample.h"
#include "sim/nvml/call.hpp"
#include "sim/nvml/load.hpp"

namespace slipway::sim {
namespace {

nvmlReturn_t number(nvmlFieldValue_t& field, std::uint64_t value) {
  field.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
  field.value.ullVal = value;
  return NVML_SUCCESS;
}

nvmlReturn_t small(nvmlFieldValue_t& field, std::uint32_t value) {
  field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
  field.value.uiVal = value;
  return NVML_SUCCESS;
}

/// Reads shutdown, slowdown and similar limits, in degrees below the GPU's own limit, as an H200 reports them.
nvmlReturn_t limit(nvmlFieldValue_t& field, const Gpu& gpu, int degrees) {
  if (gpu.model.architecture < 9) return NVML_ERROR_NOT_SUPPORTED;
  field.valueType = NVML_VALUE_TYPE_SIGNED_INT;
  field.value.siVal = degrees;
  return NVML_SUCCESS;
}

nvmlReturn_t ecc_field(nvmlFieldValue_t& field, const Gpu& gpu) {
  if (gpu.model.ecc == 0) return NVML_ERROR_NOT_SUPPORTED;
  switch (field.fieldId) {
    case 1:
      return small(field, gpu.ecc_current);
    case 2:
      return small(field, gpu.ecc_pending);
    case 3:
      return number(field, gpu.ecc.corrected_volatile);
    case 4:
      return number(field, gpu.ecc.uncorrected_volatile);
    case 5:
      return number(field, gpu.ecc.corrected_aggregate);
    case 6:
      return number(field, gpu.ecc.uncorrected_aggregate);
    default:  // by place
      return gpu.model.row_remapping == 0 ? number(field, 0) : NVML_ERROR_NOT_SUPPORTED;
  }
}

nvmlReturn_t repair_field(nvmlFieldValue_t& field, const Gpu& gpu) {
  const bool rows = field.fieldId >= 142;
  if (rows != (gpu.model.row_remapping != 0) || gpu.model.ecc == 0) return NVML_ERROR_NOT_SUPPORTED;
  switch (field.fieldId) {
    case 30:
      return number(field, gpu.retired_pages);
    case 31:
      return small(field, gpu.retire_pending);
    case 142:
      return small(field, gpu.remapped_corrected);
    case 143:
      return small(field, gpu.remapped_uncorrected);
    case 144:
      return small(field, gpu.remap_pending);
    case 145:
      return small(field, gpu.remap_failed);
    default:
      return number(field, 0);
  }
}

bool is_link_counter(unsigned field) {
  return (field >= 32 && field <= 73) || (field >= 96 && field <= 131) || (field >= 148 && field <= 163);
}

unsigned switch_links(const Gpu& gpu) {
  return static_cast<unsigned>(std::count(gpu.link_peers, gpu.link_peers + gpu.model.links, kSwitch));
}

nvmlReturn_t link_field(nvmlFieldValue_t& field, const Machine& machine, const Gpu& gpu) {
  if (gpu.model.links == 0) return field.fieldId == 91 ? small(field, 0) : NVML_ERROR_NOT_SUPPORTED;
  const std::uint64_t bytes = link_bytes(machine, gpu);
  const bool all = field.scopeId == 0xffffffffU;
  if (!all && field.scopeId >= gpu.model.links) return NVML_ERROR_INVALID_ARGUMENT;
  if (!all && gpu.link_peers[field.scopeId] == kNobody && field.fieldId != 91)
    return field.fieldId == 165 ? small(field, 0) : NVML_ERROR_NOT_SUPPORTED;
  const std::uint64_t part = all ? bytes : bytes / gpu.model.links;
  switch (field.fieldId) {
    case 90:
    case 164:
      return small(field, gpu.model.link_mbytes_per_s);
    case 91:
      return small(field, gpu.model.links);
    case 138:
    case 139:
    case 140:
    case 141:
      return number(field, part / 1024);
    case 147:  // links to switches; nvidia-smi expects 0 for a linked pair
      return switch_links(gpu) > 0 ? small(field, switch_links(gpu)) : NVML_ERROR_NOT_SUPPORTED;
    case 165:
      return small(field, gpu.mig_current == 0 ? 1 : 0);
    case 166:
      return small(field, gpu.model.link_version);
    case 202:
    case 204:
      return number(field, part);
    default:
      return number(field, 0);
  }
}

nvmlReturn_t power_field(nvmlFieldValue_t& field, const Machine& machine, const Gpu& gpu) {
  switch (field.fieldId) {
    case 83:
    case 191:
      return number(field, energy_mj(machine, gpu));
    case 185:
    case 186:
      return small(field, power_now_mw(gpu));
    case 187:
      return small(field, gpu.model.power_min_mw);
    case 188:
      return small(field, gpu.model.power_max_mw);
    case 189:
      return small(field, gpu.model.power_default_mw);
    default:
      return small(field, gpu.power_limit_mw);
  }
}

bool is_c2c(unsigned field) { return field >= 170 && field <= 172; }

/// True for fields that driver 580 leaves unchanged, without an error, if the call also has a C2C field on a GPU
/// without C2C.
bool is_power_limit(unsigned field) { return field >= 187 && field <= 190; }

nvmlReturn_t other_field(nvmlFieldValue_t& field, const Gpu& gpu) {
  const std::uint32_t hot = temperature_now(gpu);
  switch (field.fieldId) {
    case 82:
      return gpu.model.row_remapping != 0 ? small(field, hot + 8) : NVML_ERROR_NOT_SUPPORTED;
    case 170:
      return gpu.model.c2c_links > 0 ? small(field, gpu.model.c2c_links) : NVML_ERROR_NOT_SUPPORTED;
    case 171:
      return gpu.model.c2c_links > 0 ? small(field, 1) : NVML_ERROR_NOT_SUPPORTED;
    case 172:
      return gpu.model.c2c_links > 0 ? number(field, 0) : NVML_ERROR_NOT_SUPPORTED;
    case 184:
      return gpu.model.mig.capable != 0 ? small(field, gpu.model.mig.resetless) : NVML_ERROR_NOT_SUPPORTED;
    case 199:
      return gpu.model.mig.capable != 0 ? small(field, gpu.model.mig.query_when_disabled) : NVML_ERROR_NOT_SUPPORTED;
    case 193:
      return limit(field, gpu, -8);
    case 194:
      return limit(field, gpu, -2);
    case 195:
    case 196:
      return limit(field, gpu, 0);
    case 226:
      return small(field, gpu.ecc_current != gpu.ecc_pending || gpu.mig_current != gpu.mig_pending ? 1 : 0);
    case 230:
      return small(field, gpu.faults.recovery_action);
    default:
      break;
  }
  const bool zero = (field.fieldId >= 74 && field.fieldId <= 81) || field.fieldId == 94 || field.fieldId == 95 ||
                    (field.fieldId >= 169 && field.fieldId <= 183) || field.fieldId == 197 || field.fieldId == 198;
  return zero ? number(field, 0) : NVML_ERROR_NOT_SUPPORTED;
}

/// Returns NVML_FI_MAX in the header of a driver branch: its driver supports no higher field.
unsigned fields_of_branch(unsigned branch) {
  struct Since {
    unsigned branch;
    unsigned fields;
  };
  constexpr Since kSince[]{{590, 289}, {575, 274}, {570, 269}, {560, 230}, {555, 223},
                           {550, 200}, {535, 197}, {525, 170}, {520, 167}, {470, 161}};
  constexpr unsigned kNewest = 595;
  if (branch >= kNewest) return kMaxFields;
  for (const Since& each : kSince)
    if (branch >= each.branch) return each.fields;
  return 146;  // of 450
}

nvmlReturn_t read_field(nvmlFieldValue_t& field, const Machine& machine, const Gpu& gpu) {
  const unsigned id = field.fieldId;
  if (id == 0 || id >= kMaxFields) return NVML_ERROR_INVALID_ARGUMENT;
  if (id >= fields_of_branch(machine.driver_branch)) return NVML_ERROR_NOT_SUPPORTED;
  if (id <= 28) return ecc_field(field, gpu);
  if (id <= 31 || (id >= 142 && id <= 145)) return repair_field(field, gpu);
  const bool link = is_link_counter(id) || (id >= 84 && id <= 91) || (id >= 132 && id <= 141) || id == 147 ||
                    (id >= 164 && id <= 166) || (id >= 201 && id <= 222);
  if (link) return link_field(field, machine, gpu);
  if (id == 83 || (id >= 185 && id <= 192)) return power_field(field, machine, gpu);
  return other_field(field, gpu);
}

/// The driver reads each field separately.
Cost cost_of(const Machine& machine, const nvmlFieldValue_t* values, int count) {
  Cost cost{};
  for (int i = 0; i < count; ++i)
    if (values[i].fieldId < kMaxFields) cost.processor_us += machine.costs.field_us[values[i].fieldId];
  return cost;
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  Call call(Function::nvmlDeviceGetFieldValues);
  if (call.ready() != NVML_SUCCESS) return call.ready();
  if (count < 1 || values == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  call.take_time(cost_of(call.machine(), values, count));
  Target target;
  const nvmlReturn_t found = call.find(device, &target);
  if (found != NVML_SUCCESS) return found;
  const bool passes_over = std::any_of(values, values + count, [&](const nvmlFieldValue_t& value) {
    return is_c2c(value.fieldId) && target.gpu->model.c2c_links == 0;
  });
  for (int i = 0; i < count; ++i) {
    if (passes_over && is_power_limit(values[i].fieldId)) continue;
    values[i].timestamp = now_ns() / 1000;
    values[i].latencyUsec = 0;
    values[i].nvmlReturn = read_field(values[i], call.machine(), *target.gpu);
  }
  return NVML_SUCCESS;
}

SLIPWAY_NVML_EXPORT nvmlDeviceClearFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return with_target(Function::nvmlDeviceClearFieldValues, device, [=](Machine&, const Target&) -> nvmlReturn_t {
    if (count < 1 || values == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; ++i) values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    return NVML_SUCCESS;
  });
}
