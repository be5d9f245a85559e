// SPDX-License-Identifier: Apache-2.0
// Power, energy, temperature, fans.
#include "nvidia/nvml/abi/device.h"
#include "sim/nvml/call.hpp"
#include "sim/nvml/load.hpp"

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, unsigned* mode) {
  return with_gpu(Function::nvmlDeviceGetPowerManagementMode, device, [=](Gpu&) { return give(mode, 1); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned* limit) {
  return with_gpu(Function::nvmlDeviceGetPowerManagementLimit, device,
                  [=](Gpu& gpu) { return give(limit, gpu.power_limit_mw); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned* least, unsigned* most) {
  return with_gpu(Function::nvmlDeviceGetPowerManagementLimitConstraints, device,
                  [=](Gpu& gpu) { return give(least, gpu.model.power_min_mw, most, gpu.model.power_max_mw); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned* limit) {
  return with_gpu(Function::nvmlDeviceGetPowerManagementDefaultLimit, device,
                  [=](Gpu& gpu) { return give(limit, gpu.model.power_default_mw); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* limit) {
  return with_any_device(Function::nvmlDeviceGetEnforcedPowerLimit, device,
                         [=](Gpu& gpu) { return give(limit, gpu.power_limit_mw); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* power) {
  return with_any_device(Function::nvmlDeviceGetPowerUsage, device,
                         [=](Gpu& gpu) { return give(power, power_now_mw(gpu)); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* energy) {
  return with_target(Function::nvmlDeviceGetTotalEnergyConsumption, device,
                     [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                       if (target.gpu->model.architecture < 5) return NVML_ERROR_NOT_SUPPORTED;
                       return give(energy, energy_mj(machine, *target.gpu));
                     });
}
SLIPWAY_NVML_EXPORT nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned limit) {
  return change_gpu(Function::nvmlDeviceSetPowerManagementLimit, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (limit < gpu.model.power_min_mw || limit > gpu.model.power_max_mw) return NVML_ERROR_INVALID_ARGUMENT;
    gpu.power_limit_mw = limit;
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceSetPowerManagementLimit_v2(nvmlDevice_t device, nvmlPowerValue_v2_t* value) {
  return change_gpu(Function::nvmlDeviceSetPowerManagementLimit_v2, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (value == nullptr || value->powerValueMw < gpu.model.power_min_mw ||
        value->powerValueMw > gpu.model.power_max_mw)
      return NVML_ERROR_INVALID_ARGUMENT;
    gpu.power_limit_mw = value->powerValueMw;
    return NVML_SUCCESS;
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned sensor, unsigned* degrees) {
  return with_any_device(Function::nvmlDeviceGetTemperature, device, [=](Gpu& gpu) -> nvmlReturn_t {
    return sensor != 0 ? static_cast<nvmlReturn_t>(NVML_ERROR_INVALID_ARGUMENT) : give(degrees, temperature_now(gpu));
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_v1_t* value) {
  return with_any_device(Function::nvmlDeviceGetTemperatureV, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (value == nullptr || value->sensorType != 0) return NVML_ERROR_INVALID_ARGUMENT;
    if (value->version != NVML_STRUCT_VERSION(nvmlTemperature_v1_t, 1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    value->temperature = static_cast<int>(temperature_now(gpu));
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, unsigned which, unsigned* degrees) {
  return with_gpu(Function::nvmlDeviceGetTemperatureThreshold, device, [=](Gpu& gpu) -> nvmlReturn_t {
    switch (which) {
      case 0:
        return give(degrees, gpu.model.temperature_shutdown);
      case 1:
        return give(degrees, gpu.model.temperature_slowdown);
      case 2:
        return gpu.model.row_remapping != 0 ? give(degrees, 95) : NVML_ERROR_NOT_SUPPORTED;
      case 3:
        return give(degrees, gpu.model.temperature_slowdown - 2);
      default:
        return which > 7 ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_NOT_SUPPORTED;
    }
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned* count) {
  return with_gpu(Function::nvmlDeviceGetNumFans, device, [=](Gpu& gpu) { return give(count, gpu.model.fans); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned* percent) {
  return with_gpu(Function::nvmlDeviceGetFanSpeed, device, [=](Gpu& gpu) -> nvmlReturn_t {
    return gpu.model.fans == 0 ? static_cast<nvmlReturn_t>(NVML_ERROR_NOT_SUPPORTED)
                               : give(percent, 30 + utilisation_now(gpu) / 2);
  });
}
