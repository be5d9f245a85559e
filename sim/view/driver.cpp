// SPDX-License-Identifier: Apache-2.0
#include "sim/view/driver.hpp"

#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include <slipway/regular_file.hpp>

#include "sim/state/mig_rules.hpp"
#include "sim/view/tree.hpp"

namespace slipway::sim {
namespace {

namespace fs = std::filesystem;

// The first is fixed; the kernel assigns the others at loading, from the top of its dynamic range.
constexpr unsigned kGpuMajor = 195;
constexpr unsigned kControlMinor = 255;
constexpr unsigned kModesetMinor = 254;
constexpr unsigned kSwitchMajor = 508;
constexpr unsigned kCapsMajor = 509;
constexpr unsigned kUvmMajor = 510;

constexpr const char* kCapabilities = "proc/driver/nvidia/capabilities";
constexpr std::string_view kMinorKey = "DeviceFileMinor: ";
constexpr std::size_t kLongestCapability = 4096;
constexpr const char* kCapabilityNode = "dev/nvidia-caps/nvidia-cap";
constexpr unsigned kGroupMode = 0444;
constexpr unsigned kRootMode = 0400;

bool has_switch(const SimProfile& profile) {
  for (const SimPciFunction& function : profile.pci)
    if (function.role == "nvswitch") return true;
  return false;
}

std::string address_of(const sim::Gpu& gpu) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", gpu.domain, gpu.bus, gpu.device);
}

void write_modules(TreeWriter& tree, const SimProfile& profile, const sim::Machine& machine) {
  const std::string version = machine.driver_version;
  std::string list;
  for (const SimModule& module : profile.modules)
    list += fmt::format("{} {} 0 - Live 0x0000000000000000\n", module.name, module.size_bytes);
  for (const auto& [name, users] :
       {std::pair("nvidia_uvm", "0 -"), {"nvidia_modeset", "0 -"}, {"nvidia", "2 nvidia_uvm,nvidia_modeset,"}}) {
    list += fmt::format("{} 0 {} Live 0x0000000000000000 (OE)\n", name, users);
    const fs::path folder = fs::path("sys/module") / name;
    tree.file(folder / "version", version + "\n");
    tree.file(folder / "refcnt", std::string(1, *users) + "\n");
    tree.file(folder / "initstate", "live\n");
  }
  tree.file("proc/modules", list);
}

void write_majors(TreeWriter& tree, const SimProfile& profile) {
  std::string text = "Character devices:\n  1 mem\n  5 /dev/tty\n 10 misc\n";
  for (const auto& [major, name] : profile.character_majors) text += fmt::format("{:3} {}\n", major, name);
  text += fmt::format("{:3} nvidia\n{:3} nvidia-modeset\n{:3} nvidiactl\n", kGpuMajor, kGpuMajor, kGpuMajor);
  if (has_switch(profile)) text += fmt::format("{:3} nvidia-nvswitch\n", kSwitchMajor);
  text += fmt::format("{:3} nvidia-caps\n{:3} nvidia-uvm\n", kCapsMajor, kUvmMajor);
  tree.file("proc/devices", text + "\nBlock devices:\n259 blkext\n");
}

void write_gpu(TreeWriter& tree, const sim::Gpu& gpu) {
  const std::string address = address_of(gpu);
  tree.file(fs::path("proc/driver/nvidia/gpus") / address / "information",
            fmt::format("Model: \t\t {}\nIRQ:   \t\t {}\nGPU UUID: \t {}\nVideo BIOS: \t {}\nBus Type: \t PCIe\n"
                        "DMA Size: \t 52 bits\nDMA Mask: \t 0xfffffffffffff\nBus Location: \t {}\n"
                        "Device Minor: \t {}\nGPU Excluded:\t No\n",
                        gpu.model.name, 100 + gpu.minor, gpu.uuid,
                        gpu.model.vbios[0] == '\0' ? "??.??.??.??.??" : gpu.model.vbios, address, gpu.minor));
  const fs::path device = fs::path("sys/devices") / ("pci" + address.substr(0, address.rfind(':'))) / address;
  tree.link(device / "driver", "../../../bus/pci/drivers/nvidia");
  tree.link(fs::path("sys/bus/pci/drivers/nvidia") / address,
            fs::path("../../../../devices") / device.lexically_relative("sys/devices"));
  tree.file(device / "reset", "");
  tree.device("dev/nvidia" + std::to_string(gpu.minor), kGpuMajor, gpu.minor);
}

void write_capability(TreeWriter& tree, const fs::path& path, unsigned minor, unsigned mode) {
  tree.file(fs::path(kCapabilities) / path,
            fmt::format("{}{}\nDeviceFileMode: {}\nDeviceFileModify: 1\n", kMinorKey, minor, mode));
  tree.device(kCapabilityNode + std::to_string(minor), kCapsMajor, minor);
}

/// Returns the files of a GPU's instances below /proc/driver/nvidia/capabilities, with their minors.
std::map<fs::path, unsigned> instances_of(const sim::Gpu& gpu) {
  const fs::path mig = fs::path("gpu" + std::to_string(gpu.minor)) / "mig";
  std::map<fs::path, unsigned> files;
  for (const sim::GpuInstance& instance : gpu.instances) {
    if (instance.used == 0) continue;
    const fs::path folder = mig / ("gi" + std::to_string(instance.id));
    files.emplace(folder / "access", sim::capability_minor(gpu.minor, instance.id));
    for (const sim::ComputeInstance& compute : instance.compute)
      if (compute.used != 0)
        files.emplace(folder / ("ci" + std::to_string(compute.id)) / "access",
                      sim::capability_minor(gpu.minor, instance.id, compute.id));
  }
  return files;
}

void write_instances(TreeWriter& tree, const sim::Gpu& gpu) {
  tree.directory(fs::path(kCapabilities) / ("gpu" + std::to_string(gpu.minor)) / "mig");
  for (const auto& [file, minor] : instances_of(gpu)) write_capability(tree, file, minor, kGroupMode);
}

/// Returns the files of a GPU that the folder has.
std::map<fs::path, unsigned> shown_instances(const fs::path& capabilities, const sim::Gpu& gpu) {
  std::map<fs::path, unsigned> files;
  std::error_code code;
  const fs::path mig = capabilities / ("gpu" + std::to_string(gpu.minor)) / "mig";
  for (const auto& entry : fs::recursive_directory_iterator(mig, code)) {
    if (entry.path().filename() != "access") continue;
    const auto text = read_regular(entry.path().string(), kLongestCapability);
    if (text && text->starts_with(kMinorKey))
      files.emplace(entry.path().lexically_relative(capabilities),
                    std::strtoul(text->c_str() + kMinorKey.size(), nullptr, 10));
  }
  return files;
}

void write_control(TreeWriter& tree, const SimProfile& profile, const sim::Machine& machine) {
  tree.file("proc/driver/nvidia/version",
            fmt::format("NVRM version: NVIDIA UNIX Open Kernel Module for {}  {}  Release Build\nGCC version:  gcc\n",
                        profile.arch, machine.driver_version));
  tree.file("proc/driver/nvidia/params",
            "ModifyDeviceFiles: 1\nDeviceFileUID: 0\nDeviceFileGID: 0\nDeviceFileMode: 438\n");
  tree.device("dev/nvidiactl", kGpuMajor, kControlMinor);
  tree.device("dev/nvidia-modeset", kGpuMajor, kModesetMinor);
  tree.device("dev/nvidia-uvm", kUvmMajor, 0);
  tree.device("dev/nvidia-uvm-tools", kUvmMajor, 1);
  tree.file("proc/driver/nvidia-caps/mig-minors", sim_minors_table());
  tree.file("proc/driver/nvidia-caps/nvlink-minors", "fabric-mgmt 0\n");
  tree.file("proc/driver/nvidia-caps/sys-minors", "fabric-imex-mgmt 4323\n");
  write_capability(tree, "mig/config", sim::kMigConfigMinor, kRootMode);
  write_capability(tree, "mig/monitor", sim::kMigMonitorMinor, kGroupMode);
}

}  // namespace

std::string sim_minors_table() {
  constexpr unsigned kGpus = 32;
  constexpr unsigned kInstances = 15;
  constexpr unsigned kCompute = 8;
  std::string text = fmt::format("config {}\nmonitor {}\n", sim::kMigConfigMinor, sim::kMigMonitorMinor);
  for (unsigned gpu = 0; gpu < kGpus; ++gpu)
    for (unsigned instance = 0; instance < kInstances; ++instance) {
      text += fmt::format("gpu{}/gi{}/access {}\n", gpu, instance, sim::capability_minor(gpu, instance));
      for (unsigned compute = 0; compute < kCompute; ++compute)
        text += fmt::format("gpu{}/gi{}/ci{}/access {}\n", gpu, instance, compute,
                            sim::capability_minor(gpu, instance, compute));
    }
  return text;
}

Status write_sim_driver_tree(const SimProfile& profile, const sim::Machine& machine, const std::string& folder) {
  std::error_code ignored;
  // Removes the former instances.
  fs::remove_all(fs::path(folder) / kCapabilities, ignored);
  fs::remove_all(fs::path(folder) / "dev/nvidia-caps", ignored);
  TreeWriter tree{fs::path(folder)};
  write_modules(tree, profile, machine);
  write_majors(tree, profile);
  write_control(tree, profile, machine);
  for (unsigned i = 0; i < machine.gpu_count; ++i) {
    write_gpu(tree, machine.gpus[i]);
    if (machine.gpus[i].model.mig.capable != 0) write_instances(tree, machine.gpus[i]);
  }
  unsigned number = 0;
  for (const SimPciFunction& function : profile.pci)
    if (function.role == "nvswitch")
      tree.device(fmt::format("dev/nvidia-nvswitch{}", number), kSwitchMajor, number), ++number;
  if (number > 0) tree.device("dev/nvidia-nvswitchctl", kSwitchMajor, kControlMinor);
  return tree.result();
}

Status follow_sim_instances(const sim::Machine& machine, const std::string& folder) {
  TreeWriter tree{fs::path(folder)};
  const fs::path capabilities = fs::path(folder) / kCapabilities;
  for (unsigned i = 0; i < machine.gpu_count; ++i) {
    const auto now = instances_of(machine.gpus[i]);
    const auto shown = shown_instances(capabilities, machine.gpus[i]);
    std::error_code ignored;
    for (const auto& [file, minor] : shown) {
      if (now.contains(file)) continue;
      fs::remove_all((capabilities / file).parent_path(), ignored);
      fs::remove(fs::path(folder) / (kCapabilityNode + std::to_string(minor)), ignored);
    }
    for (const auto& [file, minor] : now)
      if (!shown.contains(file)) write_capability(tree, file, minor, kGroupMode);
  }
  return tree.result();
}

}  // namespace slipway::sim
