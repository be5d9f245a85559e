// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/kernel_driver.hpp - the kernel's own drivers for NVIDIA GPUs: nouveau and Nova.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::driver {

/// The modules of these drivers. drivers/gpu/drm/nova is `nova` in Linux 6.16; its sources call it nova_drm.
inline constexpr std::array<std::string_view, 4> kKernelDriverModules{"nouveau", "nova_core", "nova_drm", "nova"};

/// True when a PCI function's driver is one of them; /sys/bus/pci has names such as "nouveau" and "NovaCore".
bool is_kernel_driver(std::string_view pci_driver);

/// Returns the module of such a driver: "nova_core" for "NovaCore".
std::string kernel_driver_module(std::string_view pci_driver);

/// Returns the loaded ones: "nouveau", "nova_core, nova"; empty: none.
std::string loaded_kernel_drivers(const Host& host);

/// True when the kernel ships a driver for GPUs (nouveau, nova_core).
bool has_kernel_driver(const Host& host, const std::string& release);

}  // namespace slipway::driver
