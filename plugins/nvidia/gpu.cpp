// SPDX-License-Identifier: Apache-2.0
#include "nvidia/gpu.hpp"

#include <algorithm>
#include <set>

namespace slipway::nvidia {

bool is_gpu(const slipway::PciDevice& device) {
  const auto subclass = device.device_class >> 8;
  return device.vendor == kVendor && (subclass == 0x0300 || subclass == 0x0302 || subclass == 0x0380);
}

std::string exclusive_of(std::string_view uuid) {
  std::string name(uuid.starts_with("GPU-") ? uuid.substr(4) : uuid);
  for (char& letter : name)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return "gpu-" + name;
}

std::vector<slipway::PciDevice> gpus_of_the_driver(const Host& host) { return gpus_of_the_driver(host, {}); }

std::vector<slipway::PciDevice> gpus_of_the_driver(const Host& host, const std::set<std::string>& shown) {
  std::vector<slipway::PciDevice> found;
  for (const slipway::PciDevice& each : host.pci_devices({.vendor = kVendor})) {
    if (!is_gpu(each) || (!each.driver.empty() && each.driver != "nvidia")) continue;
    if (shown.contains(pci_place(each.address))) {
      found.push_back(each);
      continue;
    }
    if (host.exists("/sys/bus/pci/devices/" + each.address + "/physfn")) continue;
    constexpr std::size_t kMostBytes = 4096;
    const std::string known =
        host.read("/proc/driver/nvidia/gpus/" + each.address + "/information", kMostBytes).value_or("");
    const auto excluded = known.find("GPU Excluded:");
    const bool is_excluded =
        excluded != std::string::npos &&
        known.substr(excluded, known.find('\n', excluded) - excluded).find("Yes") != std::string::npos;
    if (!is_excluded) found.push_back(each);
  }
  std::ranges::sort(found, {}, &slipway::PciDevice::address);
  return found;
}

std::size_t count_gpus(const Host& host) {
  const auto functions = host.pci_devices({.vendor = kVendor, .base_class = {}});
  return static_cast<std::size_t>(std::ranges::count_if(functions, is_gpu));
}

std::optional<Facts> facts_without_gpu(const Host& host) {
  const std::string hardware = host.hardware();
  if (hardware == "assume" || count_gpus(host) != 0) return std::nullopt;
  if (hardware == "detect")
    return Facts::not_applicable(host.has_kernel_view() ? "no NVIDIA GPU on the PCI bus"
                                                        : "this root shows no devices");
  Facts facts;
  facts.set("problem", to_json(Error{ErrorCode::not_found,
                                     "there is no NVIDIA GPU on the PCI bus",
                                     "spec.hardware = require",
                                     "look for the GPU with `lspci -d 10de:`, or write hardware: assume",
                                     {}}));
  return facts;
}

std::optional<NvSwitch> nvswitch_of(const slipway::PciDevice& device) {
  constexpr std::uint32_t kOtherBridge = 0x0680;
  if (device.vendor != kVendor || device.device_class >> 8 != kOtherBridge) return std::nullopt;
  const auto id = device.device;
  if (id == 0x1ae8 || (id >= 0x1af0 && id <= 0x1aff)) return NvSwitch::lr10;
  // 22a8-22ab are the PCI bridge of the same chip, 22ac-22af its non-transparent bridge.
  if (id >= 0x22a0 && id <= 0x22a7) return NvSwitch::ls10;
  return std::nullopt;
}

bool is_nvlink5_switch_vpd(std::string_view vpd) { return vpd.find("SW_MNG") != std::string_view::npos; }

std::string gpu_label(unsigned index, std::string_view address) {
  std::string label = "GPU " + std::to_string(index);
  if (!address.empty()) label.append(" (").append(address).append(")");
  return label;
}

std::string pci_place(std::string_view address) {
  constexpr std::size_t kDomain = 4;
  if (const std::size_t function = address.rfind('.'); function != std::string_view::npos)
    address = address.substr(0, function);
  const std::size_t domain = address.find(':');
  if (domain != std::string_view::npos && domain > kDomain &&
      address.substr(0, domain - kDomain).find_first_not_of('0') == std::string_view::npos)
    address.remove_prefix(domain - kDomain);
  std::string place(std::ranges::count(address, ':') == 1 ? "0000:" : "");
  for (const char letter : address)
    place += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return place;
}

}  // namespace slipway::nvidia
