// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/managers.cpp - which GPUs are handed out by somebody who needs them whole, or makes their MIG
// devices as they are asked for: a DRA driver, or virtual machines. They get no layout from a config.
#include <algorithm>

#include "mig/device/read.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/gpu_managers.hpp"

namespace slipway::mig {
namespace {

bool allows_layouts(const std::string& manager) { return manager == nvidia::kDevicePlugin || manager == "none"; }

/// Those that a driver for virtual machines has ("vfio-pci", "nvgrace_gpu_vfio_pci").
std::vector<PciDevice> bound_to_vfio(const Host& host) {
  std::vector<PciDevice> found;
  for (const PciDevice& each : host.pci_devices({.vendor = nvidia::kVendor}))
    if (nvidia::is_gpu(each) && each.driver.find("vfio") != std::string::npos) found.push_back(each);
  return found;
}

}  // namespace

Status name_managers(const Host& host, const Json& named, std::vector<Gpu>& gpus) {
  SLIPWAY_TRY(managers, nvidia::read_gpu_managers(host));
  if (named.is_object())
    for (const auto& [gpu, manager] : named.items()) managers.of[gpu] = manager.get<std::string>();
  const std::vector<PciDevice> vfio = bound_to_vfio(host);
  for (Gpu& gpu : gpus) {
    const std::string& manager = managers.manager_of(gpu.address, gpu.uuid);
    const bool is_bound = std::ranges::count(vfio, gpu.address, &PciDevice::address) != 0;
    gpu.manager = is_bound ? "vfio" : allows_layouts(manager) ? "" : manager;
  }
  return {};
}

std::vector<std::string> gpus_of_vfio(const Host& host, const std::vector<Gpu>& gpus) {
  std::vector<std::string> texts;
  for (const PciDevice& each : bound_to_vfio(host))
    if (std::ranges::count(gpus, each.address, &Gpu::address) == 0)
      texts.push_back("the GPU at " + each.address + " belongs to " + each.driver + ", so it is left alone");
  return texts;
}

}  // namespace slipway::mig
