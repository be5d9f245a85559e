// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "nvidia/nvml/system.hpp"

namespace slipway::nvidia::nvml {
namespace {

// Newest first. The two newer ones share a layout; the one without a suffix has another: the wrong layout would overrun
// the buffer.
using Names = std::array<const char*, 3>;

Names names_of(ProcessKind kind) {
  switch (kind) {
    case ProcessKind::graphics:
      return {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2",
              "nvmlDeviceGetGraphicsRunningProcesses"};
    case ProcessKind::mps:
      return {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
              "nvmlDeviceGetMPSComputeRunningProcesses"};
    case ProcessKind::compute:
      break;
  }
  return {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
          "nvmlDeviceGetComputeRunningProcesses"};
}

std::optional<std::uint64_t> known_size(unsigned long long bytes) {
  return bytes == ~0ULL ? std::nullopt : std::optional<std::uint64_t>(bytes);
}

std::optional<unsigned> known_instance(unsigned id) {
  return id == NVML_NO_INSTANCE ? std::nullopt : std::optional(id);
}

Process process_of(const nvmlProcessInfo_v2_t& info) {
  return {info.pid, known_size(info.usedGpuMemory), known_instance(info.gpuInstanceId),
          known_instance(info.computeInstanceId)};
}

Process process_of(const nvmlProcessInfo_v1_t& info) {
  return {info.pid, known_size(info.usedGpuMemory), std::nullopt, std::nullopt};
}

/// The list may grow between the count and the read.
template <class Info>
nvmlReturn_t read_all(nvmlReturn_t (*function)(nvmlDevice_t, unsigned*, Info*), nvmlDevice_t device,
                      std::vector<Process>& list) {
  constexpr unsigned kSlack = 16;
  constexpr int kTries = 5;
  nvmlReturn_t code = NVML_ERROR_INSUFFICIENT_SIZE;
  std::vector<Info> infos(kSlack);
  for (int i = 0; i < kTries && code == NVML_ERROR_INSUFFICIENT_SIZE; ++i) {
    unsigned count = static_cast<unsigned>(infos.size());
    code = function(device, &count, infos.data());
    if (code == NVML_ERROR_INSUFFICIENT_SIZE) infos.resize(count + kSlack);
    if (code == NVML_SUCCESS)
      for (unsigned k = 0; k < count && k < infos.size(); ++k) list.push_back(process_of(infos[k]));
  }
  return code;
}

}  // namespace

Answer<std::vector<Process>> processes(Nvml& nvml, nvmlDevice_t device, ProcessKind kind) {
  return nvml.ask<std::vector<Process>>(
      [device, names = names_of(kind)](const Library& library, std::vector<Process>& list) {
        const auto newer = library.function<nvmlDevice_t, unsigned*, nvmlProcessInfo_v2_t*>({names[0], names[1]});
        if (newer != nullptr) return read_all(newer, device, list);
        const auto older = library.function<nvmlDevice_t, unsigned*, nvmlProcessInfo_v1_t*>(names[2]);
        if (older != nullptr) return read_all(older, device, list);
        return static_cast<nvmlReturn_t>(NVML_ERROR_FUNCTION_NOT_FOUND);
      });
}

}  // namespace slipway::nvidia::nvml
