// SPDX-License-Identifier: Apache-2.0
#include "core/engine/devices.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include <fnmatch.h>

namespace slipway::core {
namespace {

constexpr std::uint32_t kDisplayController = 0x03;

std::set<std::string> service_devices_of(const Session& session) {
  std::set<std::string> globs;
  for (const auto& [component, path] : session.plugins().component_to_path)
    if (const Manifest* const manifest = session.plugins().manifest(component); !manifest->service_device.empty())
      globs.insert(manifest->service_device);
  return globs;
}

std::string folder_of(const PciDevice& device) { return "/sys/bus/pci/devices/" + device.address; }

}  // namespace

std::vector<PciDevice> plugin_devices(const Session& session) {
  const Host& host = session.host();
  const auto globs = service_devices_of(session);
  if (!host.has_kernel_view() || globs.empty()) return {};
  std::vector<PciDevice> devices = host.pci_devices({});
  std::erase_if(devices, [&](const PciDevice& device) {
    const std::string alias = host.attribute(folder_of(device) + "/modalias");
    return std::ranges::none_of(globs,
                                [&](const auto& glob) { return ::fnmatch(glob.c_str(), alias.c_str(), 0) == 0; });
  });
  return devices;
}

std::vector<PciDevice> gpus_on_bus(const Session& session) {
  std::vector<PciDevice> gpus = plugin_devices(session);
  std::erase_if(gpus, [&](const PciDevice& device) {
    return device.device_class >> 16U != kDisplayController || session.host().exists(folder_of(device) + "/physfn");
  });
  return gpus;
}

std::string pci_id(const PciDevice& device) {
  char text[10];
  std::snprintf(text, sizeof text, "%04x:%04x", static_cast<unsigned>(device.vendor),
                static_cast<unsigned>(device.device));
  return text;
}

}  // namespace slipway::core
