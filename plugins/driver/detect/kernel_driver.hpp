// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/kernel_driver.hpp - the kernel's own drivers for NVIDIA GPUs: nouveau and Nova.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::driver {

/// Their modules. drivers/gpu/drm/nova is `nova` in Linux 6.16; nova_drm is what its sources call it.
inline constexpr std::array<std::string_view, 4> kKernelDriverModules{"nouveau", "nova_core", "nova_drm", "nova"};

/// Is one of them a PCI function's driver, as /sys/bus/pci names it ("nouveau", "NovaCore")?
bool is_kernel_driver(std::string_view pci_driver);

/// The module of such a driver: "nova_core" for "NovaCore".
std::string kernel_driver_module(std::string_view pci_driver);

/// Those that are loaded: "nouveau", "nova_core, nova"; empty: none.
std::string loaded_kernel_drivers(const Host& host);

/// The kernel ships one of those that drive a GPU (nouveau, nova_core).
bool has_kernel_driver(const Host& host, const std::string& release);

}  // namespace slipway::driver
