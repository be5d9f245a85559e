// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "driver/detect/host_facts.hpp"
#include "nvidia/gpus/gpu_table.hpp"

namespace slipway::driver {
namespace {

Json gpu_to_json(const nvidia::Gpu& gpu) {
  return {{"address", gpu.address},
          {"device", fmt::format("{:04x}", gpu.device.value_or(0))},
          {"name", gpu.name},
          {"architecture", gpu.architecture_name},
          {"driver", gpu.driver}};
}

nvidia::Gpu gpu_from_json(const Json& value, const nvidia::GpuTable& table) {
  auto gpu = table.find("10de:" + value.value("device", "0000")).value_or(nvidia::Gpu{});
  gpu.address = value.value("address", "");
  gpu.driver = value.value("driver", "");
  return gpu;
}

Json kernel_to_json(const KernelFacts& kernel) {
  Json value{{"release", kernel.release},    {"module_compression", kernel.module_compression},
             {"vermagic", kernel.vermagic},  {"symbols", kernel.symbols},
             {"enforces", kernel.enforces},  {"compiler", kernel.compiler},
             {"initramfs", kernel.initramfs}};
  if (kernel.headers) value["headers"] = *kernel.headers;
  if (kernel.signer) value["signer"] = *kernel.signer;
  return value;
}

KernelFacts kernel_from_json(const Json& value) {
  KernelFacts kernel;
  kernel.release = value.value("release", "");
  if (value.contains("headers")) kernel.headers = value["headers"].get<KernelHeaders>();
  kernel.module_compression = value.value("module_compression", "");
  kernel.vermagic = value.value("vermagic", "");
  kernel.symbols = value.value("symbols", KernelSymbols{});
  if (value.contains("signer")) kernel.signer = value["signer"].get<KeyId>();
  kernel.enforces = value.value("enforces", "");
  kernel.compiler = value.value("compiler", "");
  kernel.initramfs = value.value("initramfs", Initramfs{});
  return kernel;
}

void set_kernels(const HostFacts& from, Facts& facts) {
  const KernelFacts& kernel = from.kernel;
  facts.set("kernel.release", kernel.release);
  if (kernel.headers) facts.set("kernel.headers", *kernel.headers);
  facts.set("kernel.module_compression", kernel.module_compression);
  facts.set("kernel.vermagic", kernel.vermagic);
  facts.set("kernel.symbols", kernel.symbols);
  if (kernel.signer) facts.set("kernel.signer", *kernel.signer);
  if (!kernel.enforces.empty()) facts.set("kernel.enforces", kernel.enforces);
  facts.set("build.compiler", kernel.compiler);
  facts.set("build.make", from.has_make);
  facts.set("initramfs.tool", kernel.initramfs.tool);
  facts.set("initramfs.may_hold_nouveau", kernel.initramfs.may_hold_nouveau);
  if (!from.running_kernel.empty()) facts.set("kernels.running", from.running_kernel);
  if (!from.several_kernels.empty()) facts.set("kernels.several", from.several_kernels);
  if (from.follows_kernels) facts.set("kernels.follows", true);
  if (from.kernel_trial != KernelTrial{}) facts.set("kernel_trial", from.kernel_trial);
  if (!from.kernels_chosen) return;
  Json further = Json::array();
  for (const auto& one : from.further_kernels) further.push_back(kernel_to_json(one));
  if (!from.followed_kernels.empty()) facts.set("kernels.followed", from.followed_kernels);
  if (!from.kernels_without.empty()) facts.set("kernels.without", from.kernels_without);
  if (!from.changed_kernel.empty()) facts.set("kernels.changed", from.changed_kernel);
  if (from.boot_default != BootDefault{}) facts.set("boot_default", from.boot_default);
  facts.set("kernels.chosen", true);
  facts.set("kernels.further", further);
  if (!from.kernel_problem.is_null()) facts.set("kernels.problem", from.kernel_problem);
}

void read_kernels_from(const Facts& facts, HostFacts& to) {
  KernelFacts& kernel = to.kernel;
  kernel.release = facts.text("kernel.release");
  if (facts.has("kernel.headers")) kernel.headers = facts.value("kernel.headers").get<KernelHeaders>();
  kernel.module_compression = facts.text("kernel.module_compression");
  kernel.vermagic = facts.text("kernel.vermagic");
  if (facts.has("kernel.symbols")) kernel.symbols = facts.value("kernel.symbols").get<KernelSymbols>();
  if (facts.has("kernel.signer")) kernel.signer = facts.value("kernel.signer").get<KeyId>();
  kernel.enforces = facts.text("kernel.enforces");
  kernel.compiler = facts.text("build.compiler");
  to.has_make = facts.flag("build.make");
  kernel.initramfs = {facts.text("initramfs.tool"), facts.flag("initramfs.may_hold_nouveau")};
  if (facts.has("boot_default")) facts.value("boot_default").get_to(to.boot_default);
  if (facts.has("kernel_trial")) facts.value("kernel_trial").get_to(to.kernel_trial);
  to.kernels_chosen = facts.flag("kernels.chosen");
  to.follows_kernels = facts.flag("kernels.follows");
  to.followed_kernels = facts.texts("kernels.followed");
  to.kernels_without = facts.texts("kernels.without");
  to.changed_kernel = facts.text("kernels.changed");
  for (const auto& one : facts.value("kernels.further")) to.further_kernels.push_back(kernel_from_json(one));
  to.running_kernel = facts.text("kernels.running");
  to.several_kernels = facts.texts("kernels.several");
  to.kernel_problem = facts.value("kernels.problem");
}

void set_hardware(const HostFacts& from, Facts& facts) {
  Json gpus = Json::array();
  for (const auto& gpu : from.gpus) gpus.push_back(gpu_to_json(gpu));
  if (!from.gpu_table.is_null()) facts.set("gpu_table", from.gpu_table);
  if (!from.gpu_table_problem.is_null()) facts.set("gpu_table_problem", from.gpu_table_problem);
  facts.set("kernel_view", from.kernel_view);
  facts.set("gpus", gpus);
  facts.set("gpu_minors", from.gpu_minors);
  facts.set("nvswitches", from.nvswitches);
  facts.set("nvlink5_switches", from.nvlink5_switches);
  if (from.fabric_manager) facts.set("fabric_manager", *from.fabric_manager);
  if (from.loaded) {
    Json loaded{{"version", from.loaded->version}, {"modules", from.loaded->modules}};
    if (from.loaded->flavour) loaded["flavour"] = nvidia::to_string(*from.loaded->flavour);
    facts.set("loaded", loaded);
  }
  facts.set("kernel_drivers", from.kernel_drivers);
  facts.set("signatures.enforced", from.enforces_signatures);
  if (from.secure_boot) facts.set("signatures.secure_boot", *from.secure_boot);
  if (from.keys != TrustedKeys{}) facts.set("signatures.keys", from.keys);
}

void read_hardware(const Facts& facts, HostFacts& to) {
  to.kernel_view = facts.flag("kernel_view");
  to.gpu_table = facts.value("gpu_table");
  to.gpu_table_problem = facts.value("gpu_table_problem");
  const nvidia::GpuTable table = nvidia::GpuTable::renewed_by(to.gpu_table);
  for (const auto& gpu : facts.value("gpus")) to.gpus.push_back(gpu_from_json(gpu, table));
  for (const auto& minor : facts.value("gpu_minors")) to.gpu_minors.push_back(minor.get<unsigned>());
  to.nvswitches = facts.texts("nvswitches");
  to.nvlink5_switches = facts.flag("nvlink5_switches");
  if (facts.has("fabric_manager")) to.fabric_manager = facts.value("fabric_manager").get<FabricManager>();
  if (facts.has("loaded"))
    to.loaded = nvidia::LoadedDriver{facts.text("loaded.version"), nvidia::parse_flavour(facts.text("loaded.flavour")),
                                     facts.texts("loaded.modules")};
  to.kernel_drivers = facts.text("kernel_drivers");
  to.enforces_signatures = facts.flag("signatures.enforced");
  if (facts.has("signatures.secure_boot")) to.secure_boot = facts.flag("signatures.secure_boot");
  if (facts.has("signatures.keys")) to.keys = facts.value("signatures.keys").get<TrustedKeys>();
}

}  // namespace

Facts to_facts(const HostFacts& from) {
  Facts facts;
  set_hardware(from, facts);
  set_kernels(from, facts);
  facts.set("root.os", from.os);
  facts.set("root.os_family", from.os_family);
  if (!from.kernel_hooks.empty()) facts.set("root.kernel_hooks", from.kernel_hooks);
  if (from.has_systemd) facts.set("root.systemd", true);
  facts.set("root.lib_folder", from.lib_folder);
  facts.set("root.public_libdir", from.public_libdir);
  facts.set("existing", from.existing);
  if (from.installed) facts.set("installed", to_json(*from.installed));
  if (!from.modprobe.empty()) facts.set("modprobe", from.modprobe);
  if (!from.users.empty()) facts.set_volatile("replacement.users", from.users);
  if (!from.services.empty()) facts.set_volatile("replacement.services", from.services);
  if (!from.exclusives.empty()) facts.set("replacement.exclusives", from.exclusives);
  if (from.replacement_left) facts.set("replacement.left", true);
  if (!from.loaded_parameters.empty()) facts.set("loaded_parameters", from.loaded_parameters);
  return facts;
}

HostFacts host_facts_from(const Facts& facts) {
  HostFacts to;
  read_hardware(facts, to);
  read_kernels_from(facts, to);
  to.os = facts.text("root.os");
  to.os_family = facts.text("root.os_family");
  to.kernel_hooks = facts.text("root.kernel_hooks");
  to.has_systemd = facts.flag("root.systemd");
  to.lib_folder = facts.text("root.lib_folder");
  to.public_libdir = facts.text("root.public_libdir");
  if (facts.has("existing")) facts.value("existing").get_to(to.existing);
  to.installed = receipt_from_json(facts.value("installed"));
  if (facts.has("modprobe")) facts.value("modprobe").get_to(to.modprobe);
  to.users = facts.text("replacement.users");
  to.services = facts.texts("replacement.services");
  to.exclusives = facts.texts("replacement.exclusives");
  to.replacement_left = facts.flag("replacement.left");
  if (facts.has("loaded_parameters")) facts.value("loaded_parameters").get_to(to.loaded_parameters);
  return to;
}

}  // namespace slipway::driver
