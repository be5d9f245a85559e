// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/loaded_driver.hpp - which NVIDIA driver runs in the kernel: /proc/driver/nvidia and /sys/module.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/flavour.hpp"

namespace slipway::nvidia {

/// The modules of a driver, each after those that it needs; unload in the opposite order.
inline constexpr std::string_view kModules[] = {"nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm",
                                                "nvidia-peermem"};

/// The driver in the running kernel. The flavour is empty when only /sys/module/nvidia/version could be read.
struct LoadedDriver {
  std::string version;
  std::optional<Flavour> flavour;
  std::vector<std::string> modules;  ///< those of kModules that are loaded, in that order
};

/// Nothing when the module `nvidia` is not loaded.
std::optional<LoadedDriver> read_loaded_driver(const Host& host);

/// NVML opens /dev/nvidiactl when it starts. Whether that would make the running kernel load a driver for nothing: no
/// GPU is on the bus, no driver is loaded, and the kernel has one.
bool would_load_driver_for_nothing(const Host& host);

/// Minor numbers of the GPUs that the loaded driver runs, ascending.
std::vector<unsigned> read_gpu_minors(const Host& host);

}  // namespace slipway::nvidia
