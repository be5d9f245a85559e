// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/loaded_driver.hpp - the NVIDIA driver that runs in the kernel: /proc/driver/nvidia and /sys/module.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/flavour.hpp"

namespace slipway::nvidia {

/// The modules of a driver, each after those that it needs; unload them in reverse order.
inline constexpr std::string_view kModules[] = {"nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm",
                                                "nvidia-peermem"};

/// The driver in the running kernel. The flavour is empty if only /sys/module/nvidia/version could be read.
struct LoadedDriver {
  std::string version;
  std::optional<Flavour> flavour;
  std::vector<std::string> modules;  ///< loaded modules, in the order of kModules
};

/// Empty when the module `nvidia` is not loaded.
std::optional<LoadedDriver> read_loaded_driver(const Host& host);

/// NVML opens /dev/nvidiactl at its start. True when that would make the running kernel load a driver needlessly: no
/// GPU is on the bus, no driver is loaded, and the kernel has one.
bool would_load_driver_for_nothing(const Host& host);

/// Returns the locks for changes of the loaded driver's GPUs, see exclusive_of(); sorted.
std::vector<std::string> exclusives_of_gpus(const Host& host);

/// Returns the minor numbers of the loaded driver's GPUs, ascending.
std::vector<unsigned> read_gpu_minors(const Host& host);

}  // namespace slipway::nvidia
