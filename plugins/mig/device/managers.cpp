// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/managers.cpp - GPUs that another manager needs whole, or whose MIG devices it creates on request:
// a DRA driver, or virtual machines. They get no layout from a config.
#include <algorithm>

#include <slipway/text.hpp>

#include "mig/device/read.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/gpu_managers.hpp"

namespace slipway::mig {
namespace {

bool allows_layouts(const std::string& manager) { return manager == nvidia::kDevicePlugin || manager == "none"; }

std::vector<PciDevice> gpus_on_bus(const Host& host) {
  std::vector<PciDevice> found;
  for (const PciDevice& each : host.pci_devices({.vendor = nvidia::kVendor}))
    if (nvidia::is_gpu(each)) found.push_back(each);
  return found;
}

bool is_bound_to_vfio(const PciDevice& gpu) { return gpu.driver.find("vfio") != std::string::npos; }

/// Returns the GPUs that a driver for virtual machines has ("vfio-pci", "nvgrace_gpu_vfio_pci").
std::vector<PciDevice> bound_to_vfio(const Host& host) {
  std::vector<PciDevice> found = gpus_on_bus(host);
  std::erase_if(found, [](const PciDevice& each) { return !is_bound_to_vfio(each); });
  return found;
}

bool is_shown(const std::vector<Gpu>& gpus, const std::string& address) {
  return std::ranges::any_of(
      gpus, [&](const Gpu& gpu) { return nvidia::pci_place(gpu.address) == nvidia::pci_place(address); });
}

Status check_named(const Host& host, const Json& named, const std::vector<Gpu>& gpus) {
  const std::vector<PciDevice> on_bus = gpus_on_bus(host);
  const bool all_shown =
      std::ranges::all_of(on_bus, [&](const PciDevice& each) { return is_shown(gpus, each.address); });
  std::vector<std::string> unknown;
  for (const auto& entry : named.items()) {
    const std::string& name = entry.key();  // clang 14 cannot capture a structured binding in a lambda
    const bool is_uuid = name.starts_with("GPU-");
    const bool is_known = is_uuid ? !all_shown || std::ranges::count(gpus, name, &Gpu::uuid) != 0
                                  : is_shown(gpus, name) || std::ranges::any_of(on_bus, [&](const PciDevice& each) {
                                      return nvidia::pci_place(each.address) == nvidia::pci_place(name);
                                    });
    if (!is_known) unknown.push_back(name);
  }
  if (unknown.empty()) return {};
  std::vector<std::string> known;
  for (const Gpu& gpu : gpus) known.push_back(gpu.address + " (" + gpu.uuid + ")");
  constexpr std::size_t kMostNamed = 4;
  return Error{.code = ErrorCode::invalid,
               .what = "no GPU of this machine is " + listed(unknown, "or"),
               .where = "spec.components.mig.managers",
               .next = "leave it out, or name a GPU by its PCI address or UUID: " + first_few(known, kMostNamed)};
}

}  // namespace

Status name_managers(const Host& host, const Json& named, std::vector<Gpu>& gpus) {
  SLIPWAY_TRY(managers, nvidia::read_gpu_managers(host));
  if (named.is_object()) SLIPWAY_CHECK(check_named(host, named, gpus));
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

void name_lost_gpus(const Host& host, std::vector<Gpu>& gpus) {
  const std::vector<std::string> addresses = lost_gpus(host, gpus);  // in bus order, as NVML numbers them
  if (static_cast<std::ptrdiff_t>(addresses.size()) != std::ranges::count(gpus, true, &Gpu::lost)) return;
  auto next = addresses.begin();
  for (Gpu& gpu : gpus)
    if (gpu.lost) gpu.address = *next++;
}

std::vector<std::string> lost_gpus(const Host& host, const std::vector<Gpu>& gpus) {
  std::vector<std::string> addresses;
  for (const PciDevice& each : nvidia::gpus_of_the_driver(host))
    if (!is_shown(gpus, each.address)) addresses.push_back(each.address);
  return addresses;
}

}  // namespace slipway::mig
