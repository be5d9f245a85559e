// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/reset.hpp - resets GPUs, which brings a change of their MIG mode into force: of the Ampere
// generation, where the driver has not done it by itself.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "mig/layout/gpu.hpp"

namespace slipway::mig {

/// This machine runs, and its kernel knows a way to reset the GPU: in a virtual machine there often is none.
bool can_be_reset(const Host& host, const std::string& address);

/// "end what uses the GPU and run `nvidia-smi --gpu-reset -i 0000:65:00.0`, or reboot, then run `slipway apply`".
std::string how_to_reset(const std::vector<Gpu>& gpus);

/// Brings requested modes into force; instances and what programs had on the GPUs are gone after it.
///
/// It is done by nvidia-smi, all in one go: GPUs with NVLinks to each other are only reset together. It refuses while a
/// program has one of them open, so that NVML has to be released before.
/// @param driver_root  where nvidia-smi and its library are in the host's root; empty: "/"
/// Errors: `busy` it refused, with its words; those of Host::run().
Status reset_gpus(const Host& host, const std::string& driver_root, const std::vector<std::string>& addresses);

}  // namespace slipway::mig
