// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/reset.hpp - resets GPUs so that a change of their MIG mode takes effect: for the Ampere
// generation, when the driver has not reset the GPU by itself.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// True when the machine is live and its kernel has a method to reset the GPU: virtual machines often have none.
bool can_be_reset(const Host& host, const std::string& address);

/// Returns "stop the processes that use the GPU and run `nvidia-smi --gpu-reset -i 0000:65:00.0`, or reboot, then run
/// `slipway apply`".
std::string how_to_reset(const std::vector<Gpu>& gpus);

/// Resets the GPUs so that requested modes take effect; instances and the state of programs on the GPUs are lost.
///
/// Runs nvidia-smi once for all GPUs, because GPUs with NVLinks to each other can only be reset together. It refuses
/// while a program has one of them open, so NVML must be released before.
/// @param driver_root  folder of nvidia-smi and its library in the host's root; empty: "/"
/// Errors: `busy` it refused, with its text; those of Host::run().
Status reset_gpus(const Host& host, const std::string& driver_root, const std::vector<std::string>& addresses);

}  // namespace slipway::mig
