// SPDX-License-Identifier: Apache-2.0
#include "sim/view/view.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <slipway/json.hpp>

#include "sim/model/machine.hpp"
#include "sim/view/driver.hpp"
#include "sim/view/tree.hpp"

namespace slipway::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "sim-view.json";  // distinguishes a view from a folder of the user
constexpr std::string_view kEfiGlobalVariable = "8be4df61-93ca-11d2-aa0d-00e098032b8c";  // UEFI 2.10, 3.3

/// Seven regions of the function and six more of bridges and virtual functions: all unknown.
const std::string kNoResources = [] {
  std::string lines;
  for (int i = 0; i < 13; ++i) lines += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
  return lines;
}();

/// The 4096 bytes of a PCI Express function's configuration space: the header (PCI Local Bus Specification, 6.1), whose
/// only capability is a vGPU's record of its host, and an empty extended space.
std::string config_space(const SimPciFunction& function, const std::optional<SimVgpuHost>& host) {
  constexpr std::size_t kExtendedSize = 4096;
  std::string bytes(kExtendedSize, '\0');
  const auto put = [&bytes](std::size_t at, unsigned value, int size) {
    for (int i = 0; i < size; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
  };
  put(0x00, function.vendor, 2);
  put(0x02, function.device, 2);
  put(0x09, function.device_class, 3);
  put(0x2c, function.subsystem_vendor.value_or(0), 2);
  put(0x2e, function.subsystem_device.value_or(0), 2);
  if (!host || function.role != "gpu") return bytes;
  const std::string record = sim_vgpu_record(*host);
  put(0x06, 0x10, 2);  // status bit: there is a list of capabilities
  put(0x34, 0x40, 1);
  bytes.replace(0x40, record.size(), record);
  return bytes;
}

void write_pci_function(TreeWriter& tree, const SimProfile& profile, const SimPciFunction& function) {
  // The kernel shows each function below its root bus and links it from the bus' list (sysfs-bus-pci).
  const auto root_bus = "pci" + function.address.substr(0, function.address.rfind(':'));
  const fs::path device = fs::path("sys/devices") / root_bus / function.address;
  tree.file(device / "vendor", fmt::format("0x{:04x}\n", function.vendor));
  tree.file(device / "device", fmt::format("0x{:04x}\n", function.device));
  tree.file(device / "class", fmt::format("0x{:06x}\n", function.device_class));
  tree.file(device / "subsystem_vendor", fmt::format("0x{:04x}\n", function.subsystem_vendor.value_or(0)));
  tree.file(device / "subsystem_device", fmt::format("0x{:04x}\n", function.subsystem_device.value_or(0)));
  tree.file(device / "numa_node", function.numa_node ? fmt::format("{}\n", *function.numa_node) : "-1\n");
  tree.file(device / "modalias", fmt::format("pci:v{:08X}d{:08X}sv{:08X}sd{:08X}bc{:02x}sc{:02x}i{:02x}\n",
                                             function.vendor, function.device, function.subsystem_vendor.value_or(0),
                                             function.subsystem_device.value_or(0), function.device_class >> 16,
                                             (function.device_class >> 8) & 0xff, function.device_class & 0xff));
  tree.file(device / "config", config_space(function, sim_vgpu_host(profile)));
  tree.file(device / "resource", kNoResources);
  tree.link(fs::path("sys/bus/pci/devices") / function.address,
            fs::path("../../../devices") / root_bus / function.address);
}

void write_modules(TreeWriter& tree, const SimProfile& profile) {
  std::string list;
  for (const auto& module : profile.modules) {
    list += fmt::format("{} {} 0 - Live 0x0000000000000000\n", module.name, module.size_bytes);
    const fs::path folder = fs::path("sys/module") / module.name;
    tree.file(folder / "refcnt", "0\n");
    tree.file(folder / "initstate", "live\n");
    if (!module.version.empty()) tree.file(folder / "version", module.version + "\n");
  }
  tree.directory("sys/module");
  tree.file("proc/modules", list);
}

void write_kernel(TreeWriter& tree, const SimProfile& profile) {
  const auto& release = profile.kernel_release;
  tree.file("proc/sys/kernel/osrelease", release + "\n");
  tree.file("proc/version", fmt::format("Linux version {} (simulated by slipway: {}) #1 SMP\n", release, profile.name));
  tree.file("proc/cmdline", fmt::format("BOOT_IMAGE=/boot/vmlinuz-{} ro\n", release));
  std::string devices = "Character devices:\n  1 mem\n  5 /dev/tty\n 10 misc\n";
  for (const auto& [major, name] : profile.character_majors) devices += fmt::format("{:3} {}\n", major, name);
  tree.file("proc/devices", devices + "\nBlock devices:\n259 blkext\n");
  if (!profile.product.empty()) tree.file("sys/class/dmi/id/product_name", profile.product + "\n");
  if (!profile.secure_boot) return;
  // An efivarfs file: four bytes of attributes (boot service and runtime access), then the value.
  const std::string value{'\x06', '\0', '\0', '\0', *profile.secure_boot ? '\x01' : '\0'};
  tree.file(fmt::format("sys/firmware/efi/efivars/SecureBoot-{}", kEfiGlobalVariable), value);
}

/// Empties the folder when it contains a view; else leaves it unchanged.
Status clear(const fs::path& folder) {
  std::error_code code;
  if (!fs::exists(folder, code) || fs::is_empty(folder, code)) return {};
  if (code) return system_error("look into", folder.string(), code.value());
  if (!fs::exists(folder / kMark))
    return Error{.code = ErrorCode::conflict,
                 .what = "the folder for the simulated machine holds other files",
                 .where = folder.string(),
                 .next = "give an empty folder, or one that does not exist yet"};
  // The mark is removed last, so that a partly removed view is still recognized.
  for (const auto* part : {"sys", "proc", "dev"}) {
    fs::remove_all(folder / part, code);
    if (code) return system_error("remove", (folder / part).string(), code.value());
  }
  return {};
}

}  // namespace

Result<SimView> write_sim_view(const SimProfile& profile, const std::string& folder) {
  const fs::path absolute = fs::absolute(folder);
  SLIPWAY_CHECK(clear(absolute));
  TreeWriter tree(absolute);
  tree.file(kMark, pretty(Json{{"profile", profile.name}, {"about", profile.about}}));
  SLIPWAY_CHECK(tree.result());
  SLIPWAY_CHECK(add_sim_view(profile, absolute.string()));
  return SimView{.folder = absolute.string(),
                 .profile = profile.name,
                 .arch = profile.arch,
                 .kernel_release = profile.kernel_release};
}

Status add_sim_view(const SimProfile& profile, const std::string& folder) {
  TreeWriter tree{fs::path(folder)};
  for (const auto* empty : {"sys/bus/pci/devices", "sys/bus/pci/drivers", "dev"}) tree.directory(empty);
  for (const auto& function : profile.pci) write_pci_function(tree, profile, function);
  write_modules(tree, profile);
  write_kernel(tree, profile);
  // Last, so that a profile can override the common files.
  for (const auto& [path, content] : profile.files) tree.file(path.substr(1), content);
  for (const auto& [path, target] : profile.file_links) tree.link(path.substr(1), target);
  for (const auto& [path, number] : profile.nodes) tree.device(path.substr(1), number.first, number.second);
  return tree.result();
}

Result<SimView> open_sim_view(const std::string& name_or_file, const std::string& folder) {
  SLIPWAY_TRY(profile, read_sim_profile(name_or_file, sim_profile_folders()));
  SLIPWAY_TRY(view, write_sim_view(profile, folder));
  // A driver that was requested by its version is loaded already; else the machine has none.
  for (const auto& [key, value] : profile.settings) {
    if (key != "driver" || value == "none") continue;
    SLIPWAY_TRY(machine, make_sim_machine(profile, sim_profile_folders()));
    SLIPWAY_CHECK(write_sim_driver_tree(profile, *machine, view.folder));
  }
  return std::move(view);
}

}  // namespace slipway::sim
