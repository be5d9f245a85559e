// SPDX-License-Identifier: Apache-2.0
// ECC counters, retired pages, remapped rows.
#include <cstring>

#include "nvidia/nvml/abi/device.h"
#include "sim/nvml/call.hpp"

namespace slipway::sim {
namespace {

std::uint64_t count_of(const Gpu& gpu, unsigned type, unsigned counter) {
  if (counter == 0) return type == 0 ? gpu.ecc.corrected_volatile : gpu.ecc.uncorrected_volatile;
  return type == 0 ? gpu.ecc.corrected_aggregate : gpu.ecc.uncorrected_aggregate;
}

/// `body(gpu)` for a GPU with ECC enabled.
template <class Body>
nvmlReturn_t with_ecc(Function function, nvmlDevice_t device, Body body) {
  return with_gpu(function, device, [&](Gpu& gpu) -> nvmlReturn_t {
    return gpu.model.ecc == 0 || gpu.ecc_current == 0 ? kNotSupported : body(gpu);
  });
}

nvmlReturn_t retired(Function function, nvmlDevice_t device, unsigned cause, unsigned* count,
                     unsigned long long* addresses, unsigned long long* times) {
  return with_gpu(function, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.row_remapping != 0 || gpu.model.ecc == 0) return kNotSupported;
    if (times != nullptr && count != nullptr && *count > 0) memset(times, 0, *count * sizeof *times);
    return give_list(count, addresses, cause == 0 ? 0 : gpu.retired_pages,
                     [](unsigned i) { return 0x1000ULL * (i + 1); });
  });
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned* current, unsigned* pending) {
  return with_gpu(Function::nvmlDeviceGetEccMode, device, [=](Gpu& gpu) {
    return gpu.model.ecc == 0 ? kNotSupported : give(current, gpu.ecc_current, pending, gpu.ecc_pending);
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, unsigned* mode) {
  return with_gpu(Function::nvmlDeviceGetDefaultEccMode, device,
                  [=](Gpu& gpu) { return gpu.model.ecc == 0 ? kNotSupported : give(mode, 1); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceSetEccMode(nvmlDevice_t device, unsigned mode) {
  return change_gpu(Function::nvmlDeviceSetEccMode, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.ecc == 0) return kNotSupported;
    gpu.ecc_pending = mode != 0 ? 1 : 0;  // takes effect after a reset
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceClearEccErrorCounts(nvmlDevice_t device, unsigned counter) {
  return change_gpu(Function::nvmlDeviceClearEccErrorCounts, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.ecc == 0) return kNotSupported;
    if (counter == 0)
      gpu.ecc.corrected_volatile = gpu.ecc.uncorrected_volatile = 0;
    else
      gpu.ecc.corrected_aggregate = gpu.ecc.uncorrected_aggregate = 0;
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, unsigned type, unsigned counter,
                                                unsigned long long* count) {
  return with_ecc(Function::nvmlDeviceGetTotalEccErrors, device,
                  [=](Gpu& gpu) { return give(count, count_of(gpu, type, counter)); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device, unsigned type, unsigned counter,
                                                   nvmlEccErrorCounts_t* counts) {
  return with_ecc(Function::nvmlDeviceGetDetailedEccErrors, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (counts == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *counts = {0, 0, count_of(gpu, type, counter), 0};
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, unsigned type, unsigned counter,
                                                    unsigned location, unsigned long long* count) {
  constexpr unsigned kDram = 2;
  constexpr unsigned kSram = 7;
  return with_ecc(Function::nvmlDeviceGetMemoryErrorCounter, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (location == kDram) return give(count, count_of(gpu, type, counter));
    const bool has = gpu.model.row_remapping != 0 ? location == kSram : location < kSram;
    return has ? give(count, 0) : kNotSupported;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device, nvmlEccSramErrorStatus_v1_t* status) {
  return with_ecc(Function::nvmlDeviceGetSramEccErrorStatus, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (status == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.model.row_remapping == 0) return kNotSupported;
    const unsigned version = status->version;
    if (version != NVML_STRUCT_VERSION(nvmlEccSramErrorStatus_v1_t, 1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memset(status, 0, sizeof *status);
    status->version = version;
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetRetiredPages(nvmlDevice_t device, unsigned cause, unsigned* count,
                                              unsigned long long* addresses) {
  return retired(Function::nvmlDeviceGetRetiredPages, device, cause, count, addresses, nullptr);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, unsigned cause, unsigned* count,
                                                 unsigned long long* addresses, unsigned long long* times) {
  return retired(Function::nvmlDeviceGetRetiredPages_v2, device, cause, count, addresses, times);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device, unsigned* pending) {
  return with_gpu(Function::nvmlDeviceGetRetiredPagesPendingStatus, device, [=](Gpu& gpu) {
    return gpu.model.row_remapping != 0 || gpu.model.ecc == 0 ? kNotSupported : give(pending, gpu.retire_pending);
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned* corrected, unsigned* uncorrected,
                                              unsigned* pending, unsigned* failed) {
  return with_gpu(Function::nvmlDeviceGetRemappedRows, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.row_remapping == 0) return kNotSupported;
    const nvmlReturn_t first = give(corrected, gpu.remapped_corrected, uncorrected, gpu.remapped_uncorrected);
    return first != NVML_SUCCESS ? first : give(pending, gpu.remap_pending, failed, gpu.remap_failed);
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device, nvmlRowRemapperHistogramValues_t* values) {
  return with_gpu(Function::nvmlDeviceGetRowRemapperHistogram, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.row_remapping == 0) return kNotSupported;
    if (values == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *values = {640, 0, 0, 0, 0};
    return NVML_SUCCESS;
  });
}
