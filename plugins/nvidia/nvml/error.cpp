// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/error.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace slipway::nvidia::nvml {
namespace {

struct Code {
  nvmlReturn_t code;
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array kCodes{
    Code{NVML_SUCCESS, "NVML_SUCCESS", "it worked"},
    Code{NVML_ERROR_UNINITIALIZED, "NVML_ERROR_UNINITIALIZED", "NVML is not initialised"},
    Code{NVML_ERROR_INVALID_ARGUMENT, "NVML_ERROR_INVALID_ARGUMENT", "an argument is not valid"},
    Code{NVML_ERROR_NOT_SUPPORTED, "NVML_ERROR_NOT_SUPPORTED", "the device does not support it"},
    Code{NVML_ERROR_NO_PERMISSION, "NVML_ERROR_NO_PERMISSION", "this user may not do that"},
    Code{NVML_ERROR_ALREADY_INITIALIZED, "NVML_ERROR_ALREADY_INITIALIZED", "NVML is initialised already"},
    Code{NVML_ERROR_NOT_FOUND, "NVML_ERROR_NOT_FOUND", "it was not found"},
    Code{NVML_ERROR_INSUFFICIENT_SIZE, "NVML_ERROR_INSUFFICIENT_SIZE", "the answer does not fit into its buffer"},
    Code{NVML_ERROR_INSUFFICIENT_POWER, "NVML_ERROR_INSUFFICIENT_POWER", "a power cable is not connected"},
    Code{NVML_ERROR_DRIVER_NOT_LOADED, "NVML_ERROR_DRIVER_NOT_LOADED", "the NVIDIA driver is not loaded"},
    Code{NVML_ERROR_TIMEOUT, "NVML_ERROR_TIMEOUT", "nothing happened in the time given"},
    Code{NVML_ERROR_IRQ_ISSUE, "NVML_ERROR_IRQ_ISSUE", "the kernel found an interrupt problem with a GPU"},
    Code{NVML_ERROR_LIBRARY_NOT_FOUND, "NVML_ERROR_LIBRARY_NOT_FOUND", "a library that NVML needs is missing"},
    Code{NVML_ERROR_FUNCTION_NOT_FOUND, "NVML_ERROR_FUNCTION_NOT_FOUND", "this driver's NVML has no such function"},
    Code{NVML_ERROR_CORRUPTED_INFOROM, "NVML_ERROR_CORRUPTED_INFOROM", "the infoROM is damaged"},
    Code{NVML_ERROR_GPU_IS_LOST, "NVML_ERROR_GPU_IS_LOST", "the GPU fell off the bus or is not reachable any more"},
    Code{NVML_ERROR_RESET_REQUIRED, "NVML_ERROR_RESET_REQUIRED", "the GPU needs a reset first"},
    Code{NVML_ERROR_OPERATING_SYSTEM, "NVML_ERROR_OPERATING_SYSTEM", "the kernel refused it"},
    Code{NVML_ERROR_LIB_RM_VERSION_MISMATCH, "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
         "the versions of library and kernel module differ"},
    Code{NVML_ERROR_IN_USE, "NVML_ERROR_IN_USE", "the device is in use"},
    Code{NVML_ERROR_MEMORY, "NVML_ERROR_MEMORY", "memory ran out"},
    Code{NVML_ERROR_NO_DATA, "NVML_ERROR_NO_DATA", "there is no data"},
    Code{NVML_ERROR_VGPU_ECC_NOT_SUPPORTED, "NVML_ERROR_VGPU_ECC_NOT_SUPPORTED", "not possible with ECC enabled"},
    Code{NVML_ERROR_INSUFFICIENT_RESOURCES, "NVML_ERROR_INSUFFICIENT_RESOURCES", "the GPU has no room left for it"},
    Code{NVML_ERROR_FREQ_NOT_SUPPORTED, "NVML_ERROR_FREQ_NOT_SUPPORTED", "the frequency is not supported"},
    Code{NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
         "this driver does not know that version of the structure"},
    Code{NVML_ERROR_DEPRECATED, "NVML_ERROR_DEPRECATED", "the function is no longer offered"},
    Code{NVML_ERROR_NOT_READY, "NVML_ERROR_NOT_READY", "the system is not ready for it yet"},
    Code{NVML_ERROR_GPU_NOT_FOUND, "NVML_ERROR_GPU_NOT_FOUND", "no GPU was found"},
    Code{NVML_ERROR_INVALID_STATE, "NVML_ERROR_INVALID_STATE", "not possible in the present state"},
    Code{NVML_ERROR_RESET_TYPE_NOT_SUPPORTED, "NVML_ERROR_RESET_TYPE_NOT_SUPPORTED",
         "the device does not support this kind of reset"},
    Code{NVML_ERROR_UNKNOWN, "NVML_ERROR_UNKNOWN", "an internal driver error"},
};

const Code* find(nvmlReturn_t code) {
  const auto* found = std::ranges::find(kCodes, code, &Code::code);
  return found == kCodes.end() ? nullptr : found;
}

ErrorCode code_of(nvmlReturn_t code) {
  switch (code) {
    case kGaveUp:
      return ErrorCode::timed_out;
    case NVML_ERROR_NO_PERMISSION:
      return ErrorCode::denied;
    case NVML_ERROR_IN_USE:
      return ErrorCode::busy;
    case NVML_ERROR_INVALID_ARGUMENT:
      return ErrorCode::invalid;
    case NVML_ERROR_NOT_SUPPORTED:
    case NVML_ERROR_FUNCTION_NOT_FOUND:
      return ErrorCode::unsupported;
    case NVML_ERROR_NOT_FOUND:
    case NVML_ERROR_DRIVER_NOT_LOADED:
    case NVML_ERROR_LIBRARY_NOT_FOUND:
    case NVML_ERROR_GPU_NOT_FOUND:
      return ErrorCode::not_found;
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
    case NVML_ERROR_INSUFFICIENT_RESOURCES:
      return ErrorCode::conflict;
    default:
      return ErrorCode::io;
  }
}

std::string_view remedy(nvmlReturn_t code) {
  switch (code) {
    case kGaveUp:
      return kHangRemedy;
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "load the driver (`modprobe nvidia`), or install one: `slipway apply` with the component driver";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "the driver was updated while the old module stays loaded: reboot; where slipway installed the driver, "
             "`slipway apply` replaces the loaded driver when no process uses it";
    case NVML_ERROR_GPU_IS_LOST:
      return "look at the kernel's log (`dmesg`) for an Xid, then reset the GPU or reboot";
    case NVML_ERROR_RESET_REQUIRED:
      return "stop the processes that use the GPU, then `nvidia-smi --gpu-reset`";
    case NVML_ERROR_NO_PERMISSION:
      return "run it as root";
    case NVML_ERROR_IN_USE:
      return "stop the processes that use the GPU and try again";
    default:
      return {};
  }
}

}  // namespace

std::string error_name(nvmlReturn_t code) {
  const Code* const known = find(code);
  return known != nullptr ? std::string(known->name) : fmt::format("NVML_ERROR_{}", code);
}

std::string_view error_meaning(nvmlReturn_t code) {
  const Code* const known = find(code);
  return known != nullptr ? known->meaning : "an error that slipway does not know";
}

std::string error_text(nvmlReturn_t code) {
  if (code == kGaveUp) return "NVML did not answer in time, and the call was given up";
  return fmt::format("{} ({}, {})", error_meaning(code), error_name(code), code);
}

Error to_error(nvmlReturn_t code, std::string_view doing, std::string_view where) {
  return Error{.code = code_of(code),
               .what = fmt::format("nvml: {}: {}", doing, error_text(code)),
               .where = std::string(where),
               .next = std::string(remedy(code))};
}

}  // namespace slipway::nvidia::nvml
