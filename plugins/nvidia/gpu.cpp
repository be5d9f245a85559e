// SPDX-License-Identifier: Apache-2.0
#include "nvidia/gpu.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>

namespace slipway::nvidia {

namespace {

struct Product {
  std::uint16_t device;
  std::string_view name;
};

// Boards of data centers and workstations, under the names that customers use. One id may stand for two boards (25b6).
constexpr std::array kProducts{
    Product{0x102d, "K80"},
    Product{0x13bd, "M10"},
    Product{0x13f2, "M60"},
    Product{0x17fd, "M40"},
    Product{0x15f7, "P100-PCIe-12GB"},
    Product{0x15f8, "P100-PCIe-16GB"},
    Product{0x15f9, "P100-SXM2-16GB"},
    Product{0x1b38, "P40"},
    Product{0x1bb3, "P4"},
    Product{0x1db1, "V100-SXM2-16GB"},
    Product{0x1db4, "V100-PCIe-16GB"},
    Product{0x1db5, "V100-SXM2-32GB"},
    Product{0x1db6, "V100-PCIe-32GB"},
    Product{0x1db8, "V100-SXM3-32GB"},
    Product{0x1df5, "V100-SXM2-16GB-N"},
    Product{0x1df6, "V100S-PCIe-32GB"},
    Product{0x1e30, "Quadro-RTX-6000"},
    Product{0x1eb0, "Quadro-RTX-5000"},
    Product{0x1eb1, "Quadro-RTX-4000"},
    Product{0x1eb4, "T4G"},
    Product{0x1eb8, "T4"},
    Product{0x20b0, "A100-SXM4-40GB"},
    Product{0x20b1, "A100-PCIe-40GB"},
    Product{0x20b2, "A100-SXM4-80GB"},
    Product{0x20b3, "A100-SXM-64GB"},
    Product{0x20b5, "A100-PCIe-80GB"},
    Product{0x20b7, "A30"},
    Product{0x20b8, "A100X"},
    Product{0x20b9, "A30X"},
    Product{0x20bd, "A800-SXM4-40GB"},
    Product{0x20f1, "A100-PCIe-40GB"},
    Product{0x20f3, "A800-SXM4-80GB"},
    Product{0x20f5, "A800-PCIe-80GB"},
    Product{0x20f6, "A800-PCIe-40GB"},
    Product{0x2230, "RTX-A6000"},
    Product{0x2231, "RTX-A5000"},
    Product{0x2232, "RTX-A4500"},
    Product{0x2233, "RTX-A5500"},
    Product{0x2235, "A40"},
    Product{0x2236, "A10"},
    Product{0x2237, "A10G"},
    Product{0x2238, "A10M"},
    Product{0x230e, "H20-NVL16"},
    Product{0x2321, "H100-NVL"},
    Product{0x2322, "H800-PCIe"},
    Product{0x2324, "H800-SXM"},
    Product{0x2329, "H20"},
    Product{0x232c, "H20-3e"},
    Product{0x2330, "H100-SXM"},
    Product{0x2331, "H100-PCIe"},
    Product{0x2335, "H200-SXM"},
    Product{0x2336, "H100-SXM-2336"},
    Product{0x2337, "H100-SXM-64GB"},
    Product{0x2338, "H100-SXM-96GB"},
    Product{0x2339, "H100-SXM-94GB"},
    Product{0x233a, "H800-NVL"},
    Product{0x233b, "H200-NVL"},
    Product{0x233d, "H100-96GB"},
    Product{0x2342, "GH200"},
    Product{0x2345, "GH200-2345"},
    Product{0x2348, "GH200-144GB"},
    Product{0x24b0, "RTX-A4000"},
    Product{0x2531, "RTX-A2000"},
    Product{0x25b6, "A16"},
    Product{0x25b6, "A2"},
    Product{0x26b1, "RTX-6000-Ada"},
    Product{0x26b2, "RTX-5000-Ada"},
    Product{0x26b3, "RTX-5880-Ada"},
    Product{0x26b5, "L40"},
    Product{0x26b7, "L20"},
    Product{0x26b8, "L40G"},
    Product{0x26b9, "L40S"},
    Product{0x26ba, "L20"},
    Product{0x27b0, "RTX-4000-SFF-Ada"},
    Product{0x27b1, "RTX-4500-Ada"},
    Product{0x27b2, "RTX-4000-Ada"},
    Product{0x27b6, "L2"},
    Product{0x27b8, "L4"},
    Product{0x2901, "B200"},
    Product{0x2941, "GB200"},
    Product{0x29bc, "B100"},
    Product{0x2bb1, "RTX-PRO-6000-Workstation"},
    Product{0x2bb3, "RTX-PRO-5000"},
    Product{0x2bb4, "RTX-PRO-6000-Max-Q"},
    Product{0x2bb5, "RTX-PRO-6000-Server"},
    Product{0x2c31, "RTX-PRO-4500"},
    Product{0x2c34, "RTX-PRO-4000"},
    Product{0x2c3a, "RTX-PRO-4500-Server"},
    Product{0x2e12, "GB10"},
    Product{0x3182, "B300"},
    Product{0x31c2, "GB300"},
    Product{0x31c3, "GB300"},
};

// Hopper on a Grace superchip: the proprietary modules do not support it, unlike Hopper on PCIe and SXM boards.
constexpr bool is_grace_hopper(std::uint16_t device) { return device >= 0x2342 && device <= 0x2348; }

std::string normalised(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '_' || c == ' ') continue;
    out += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (out.starts_with("nvidia")) out.erase(0, 6);
  if (out.starts_with("tesla")) out.erase(0, 5);
  return out;
}

// Reads "10de:2330" or "0x2330", and also "2330" if no prefix is required.
std::optional<std::uint16_t> parse_device_id(std::string_view text, bool with_prefix) {
  bool prefixed = false;
  for (const std::string_view prefix : {"10de:", "10DE:", "0x", "0X"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    prefixed = true;
  }
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 4 || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (prefixed != with_prefix) return std::nullopt;
  return value;
}

Gpu gpu_of_id(std::uint16_t device) {
  Gpu gpu;
  gpu.device = device;
  gpu.name = product_name(device);
  if (gpu.name.empty()) gpu.name = fmt::format("GPU 10de:{:04x}", device);
  gpu.architecture = architecture_of(device);
  gpu.requires_open = support_of(gpu.architecture).requires_open || is_grace_hopper(device);
  return gpu;
}

// "h100" names all boards "H100-…"; "h10" names none.
const Product* find_product(const std::string& wanted) {
  for (const auto& product : kProducts)
    if (normalised(product.name) == wanted) return &product;
  for (const auto& product : kProducts)
    for (auto dash = product.name.find('-'); dash != std::string_view::npos; dash = product.name.find('-', dash + 1))
      if (normalised(product.name.substr(0, dash)) == wanted) return &product;
  return nullptr;
}

}  // namespace

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

Gpu gpu_from_pci(const slipway::PciDevice& device) {
  Gpu gpu = gpu_of_id(device.device);
  gpu.address = device.address;
  gpu.driver = device.driver;
  return gpu;
}

std::string product_name(std::uint16_t device_id) {
  const auto product = std::ranges::find(kProducts, device_id, &Product::device);
  return product == kProducts.end() ? std::string{} : std::string{product->name};
}

std::optional<Gpu> gpu_from_text(std::string_view text) {
  if (const auto id = parse_device_id(text, true)) return gpu_of_id(*id);
  const std::string wanted = normalised(text);
  if (const auto architecture = parse_architecture(wanted); architecture && *architecture < Architecture::newer) {
    Gpu gpu;
    gpu.name = wanted;
    gpu.architecture = *architecture;
    gpu.requires_open = support_of(*architecture).requires_open;
    return gpu;
  }
  if (const Product* product = wanted.empty() ? nullptr : find_product(wanted)) {
    Gpu gpu = gpu_of_id(product->device);
    gpu.name = std::string{text};
    return gpu;
  }
  // Last, because A100 and B200 are also hexadecimal numbers.
  if (const auto id = parse_device_id(text, false)) return gpu_of_id(*id);
  return std::nullopt;
}

std::vector<std::string> known_gpu_names() {
  std::set<std::string> names;
  for (const auto& product : kProducts) names.emplace(product.name);
  for (int i = static_cast<int>(Architecture::kepler); i < static_cast<int>(Architecture::newer); ++i)
    names.emplace(to_string(static_cast<Architecture>(i)));
  return {names.begin(), names.end()};
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
