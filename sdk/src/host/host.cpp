// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/host.hpp>
#include <slipway/text.hpp>

#include "src/text/read.hpp"

namespace slipway {
namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";
constexpr std::string_view kModules = "/lib/modules";

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Returns a kernel module's name in the kernel's spelling; empty when it cannot be one.
std::string kernel_spelling(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text.find_first_of("/. \n") == std::string::npos ? text : std::string();
}

std::optional<int> numa_node_from(const std::string& text) {
  const std::optional<std::uint64_t> node = detail::number_from(text, 10);  // not for -1, "unknown"
  return node ? std::optional<int>(static_cast<int>(*node)) : std::nullopt;
}

class PciReader {
 public:
  PciReader(const Host& host, const std::string& address)
      : host_(host), folder_(std::string(kPciDevices) + "/" + address + "/") {}

  template <class T>
  T hex(const char* attribute) const {
    return static_cast<T>(detail::number_from(host_.attribute(folder_ + attribute), 16).value_or(0));
  }
  std::string driver() const {
    const Result<std::string> link = host_.read_link(folder_ + "driver");
    return link ? last_name(*link) : std::string();
  }
  std::optional<int> numa_node() const { return numa_node_from(host_.attribute(folder_ + "numa_node")); }

 private:
  const Host& host_;
  std::string folder_;
};

bool any_exists(const Host& host, const std::string& folder, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return host.exists(folder + "/" + name); });
}

}  // namespace

Result<std::string> Host::read_part(std::string_view path, std::uint32_t offset_bytes, std::uint32_t size_bytes) const {
  SLIPWAY_TRY(content, read(path));
  return offset_bytes < content.size() ? content.substr(offset_bytes, size_bytes) : std::string();
}

std::string Host::attribute(std::string_view path) const {
  const Result<std::string> content = read(path);
  return content ? std::string(trimmed(*content)) : std::string();
}

std::vector<PciDevice> Host::pci_devices(const PciFilter& filter) const {
  std::vector<PciDevice> devices;
  for (const std::string& address : list(kPciDevices).value_or({})) {
    const PciReader reader(*this, address);
    PciDevice device{.address = address, .vendor = reader.hex<std::uint16_t>("vendor")};
    if (device.vendor == 0) continue;  // it was removed meanwhile
    if (filter.vendor && device.vendor != *filter.vendor) continue;
    device.device_class = reader.hex<std::uint32_t>("class") & 0xffffffU;
    if (filter.base_class && device.device_class >> 16 != *filter.base_class) continue;
    device.device = reader.hex<std::uint16_t>("device");
    device.subsystem_vendor = reader.hex<std::uint16_t>("subsystem_vendor");
    device.subsystem_device = reader.hex<std::uint16_t>("subsystem_device");
    device.driver = reader.driver();
    device.numa_node = reader.numa_node();
    devices.push_back(std::move(device));
  }
  // Names sort as text; a domain above ffff ("10000:…", from Intel VMD) is longer and comes last.
  std::stable_sort(devices.begin(), devices.end(),
                   [](const PciDevice& a, const PciDevice& b) { return a.address.size() < b.address.size(); });
  return devices;
}

bool Host::module_loaded(std::string_view name) const {
  const std::string module = kernel_spelling(name);
  if (module.empty()) return false;
  const std::string modules = read("/proc/modules").value_or({});
  for (const std::string_view line : lines_of<std::string_view>(modules))
    if (line.substr(0, line.find(' ')) == module) return true;
  return exists("/sys/module/" + module);
}

std::optional<unsigned> Host::character_major(std::string_view name) const {
  const Result<std::string> devices = read("/proc/devices");
  if (!devices) return std::nullopt;
  for (const std::string_view raw : lines_of<std::string_view>(*devices)) {
    if (raw.starts_with("Block devices")) break;
    const std::string_view line = trimmed(raw);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || trimmed(line.substr(space)) != name) continue;
    if (const std::optional<std::uint64_t> major = detail::number_from(line.substr(0, space), 10))
      return static_cast<unsigned>(*major);
  }
  return std::nullopt;
}

std::string Host::os_release(std::string_view key) const {
  Result<std::string> content = read("/etc/os-release");
  if (!content) content = read("/usr/lib/os-release");
  if (!content) return {};
  std::string value;
  for (const std::string_view line : lines_of<std::string_view>(*content)) {
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && trimmed(line.substr(0, equals)) == key)
      value = detail::unquoted(trimmed(line.substr(equals + 1)));  // the last one counts, as in a shell
  }
  return value;
}

std::vector<std::string> Host::installed_kernels() const {
  std::vector<std::string> kernels;
  std::vector<std::string> traces;
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7F; };
  for (const std::string& release : list(kModules).value_or({})) {
    if (std::ranges::any_of(release, is_control)) continue;  // not a kernel's name, and it could forge lines
    const std::string folder = std::string(kModules) + "/" + release;
    // Files of a kernel's package. depmod's own files and links of the headers may exist without a kernel.
    if (any_exists(*this, folder, {"kernel", "modules.order", "modules.builtin", "vmlinuz"}))
      kernels.push_back(release);
    else if (any_exists(*this, folder, {"modules.dep", "build"}))
      traces.push_back(release);
  }
  return kernels.empty() ? traces : kernels;
}

}  // namespace slipway
