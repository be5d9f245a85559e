// SPDX-License-Identifier: Apache-2.0
#include "dcgm/sampler/silent_gpu.hpp"

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/error.hpp"

namespace slipway::dcgm {

std::string silent_gpu_remedy(const GpuState& state) {
  if (state.problem == nvidia::nvml::error_text(nvidia::nvml::kGaveUp)) return nvidia::nvml::kHangRemedy;
  // Where the whole driver is gone no GPU can be reset, and one that it does not show cannot either.
  const bool is_for_a_reset = state.problem == nvidia::nvml::error_text(NVML_ERROR_GPU_IS_LOST) ||
                              state.problem == nvidia::nvml::error_text(NVML_ERROR_RESET_REQUIRED);
  if (!is_for_a_reset) return "`slipway doctor` tells what helps";
  const std::string address = nvidia::nvml::sysfs_address(state.gpu.bus_id);
  return "drain the node; reset the GPU (`slipway pause -- nvidia-smi -r -i " +
         (address.empty() ? std::to_string(state.gpu.index) : address) + "`) or reboot";
}

}  // namespace slipway::dcgm
