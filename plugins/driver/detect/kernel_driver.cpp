// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/kernel_driver.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace slipway::driver {
namespace {

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

bool is_kernel_driver(std::string_view pci_driver) {
  const std::string name = lower(pci_driver);
  return name == "nouveau" || name.starts_with("nova");
}

std::string kernel_driver_module(std::string_view pci_driver) {
  const std::string name = lower(pci_driver);
  return name == "novacore" ? "nova_core" : name;
}

std::string loaded_kernel_drivers(const Host& host) {
  std::string loaded;
  for (const auto name : kKernelDriverModules)
    if (host.module_loaded(name)) loaded += fmt::format("{}{}", loaded.empty() ? "" : ", ", name);
  return loaded;
}

bool has_kernel_driver(const Host& host, const std::string& release) {
  const std::string gpu = fmt::format("/lib/modules/{}/kernel/drivers/gpu/", release);
  for (const auto* module : {"drm/nouveau/nouveau.ko", "nova-core/nova_core.ko"})
    for (const auto* suffix : {"", ".xz", ".zst", ".gz"})
      if (host.exists(gpu + module + suffix)) return true;
  return false;
}

}  // namespace slipway::driver
