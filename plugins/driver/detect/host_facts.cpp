// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/host_facts.hpp"

#include <algorithm>

#include "base/kernels/kernels.hpp"
#include "driver/detect/kernel_driver.hpp"
#include "driver/detect/root_layout.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/gpus/gpu_table.hpp"

namespace slipway::driver {
namespace {

nvidia::GpuTable read_gpu_table(const Host& host, HostFacts& facts) {
  auto table = nvidia::GpuTable::of(host);
  if (!table) {
    facts.gpu_table_problem = to_json(table.error());
    return nvidia::GpuTable::built_in();
  }
  facts.gpu_table = table->renewals();
  return std::move(*table);
}

void read_hardware(const Host& host, HostFacts& facts) {
  const nvidia::GpuTable table = read_gpu_table(host, facts);
  facts.kernel_view = host.has_kernel_view();
  if (!facts.kernel_view) return;
  for (const auto& device : host.pci_devices({.vendor = nvidia::kVendor, .base_class = {}})) {
    if (nvidia::is_gpu(device)) facts.gpus.push_back(table.of_pci(device));
    if (nvidia::nvswitch_of(device)) facts.nvswitches.push_back(device.address);
  }
  for (const auto& device : host.pci_devices({.vendor = nvidia::kMellanoxVendor, .base_class = {}})) {
    const auto vpd = host.read("/sys/bus/pci/devices/" + device.address + "/vpd");
    facts.nvlink5_switches |= vpd && nvidia::is_nvlink5_switch_vpd(*vpd);
  }
  if (!facts.nvswitches.empty() || facts.nvlink5_switches) facts.fabric_manager = read_fabric_manager(host);
  facts.loaded = nvidia::read_loaded_driver(host);
  facts.gpu_minors = nvidia::read_gpu_minors(host);
  facts.kernel_drivers = loaded_kernel_drivers(host);
  facts.enforces_signatures = !running_kernel_enforces(host).empty();
  facts.secure_boot = secure_boot(host);
}

KernelFacts read_kernel(const Host& host, const std::string& release) {
  KernelFacts kernel;
  kernel.release = release;
  kernel.headers = read_kernel_headers(host, release);
  kernel.module_compression = module_compression(host, release);
  const auto own = read_own_module(host, first_own_module(host, release));
  if (own) {
    kernel.vermagic = own->vermagic;
    kernel.signer = own->signer;
  }
  kernel.symbols = read_kernel_symbols(host, release, own, is_watched, false);
  kernel.enforces = running_kernel_enforces(host);
  if (kernel.enforces.empty()) kernel.enforces = kernel_enforces(host, release);
  if (kernel.headers) kernel.compiler = find_program(host, compiler_program(kernel.headers->compiler));
  kernel.initramfs = read_initramfs(host, release);
  return kernel;
}

/// The kernels that have no modules, or had none at the last apply.
std::vector<std::string> without_modules(const HostFacts& facts) {
  std::vector<std::string> releases = facts.kernels_without;
  if (facts.installed)
    releases.insert(releases.end(), facts.installed->without.begin(), facts.installed->without.end());
  return releases;
}

void read_kernels(const Host& host, const KernelChoice& choice, HostFacts& facts) {
  const auto set = kernels_of_plan(choice, facts.installed, host);
  if (set) {
    facts.follows_kernels = set->follows;
    facts.followed_kernels = set->followed;
    facts.kernels_without = set->without;
  }
  if (const auto change = host.kernel_change()) facts.changed_kernel = change->release;
  const bool follows = !facts.followed_kernels.empty() || !facts.changed_kernel.empty();
  facts.kernels_chosen = choice.is_given() || host.asked_kernels().size() > 1 || follows;
  if (choice.is_given() || !host.asked_kernels().empty() || follows) facts.running_kernel = running_kernel(host);
  const auto releases = set ? Result(set->releases) : Result<std::vector<std::string>>(set.error());
  if (!releases && facts.kernels_chosen) facts.kernel_problem = to_json(releases.error());
  if (!releases && !facts.kernels_chosen && releases.error().code == ErrorCode::conflict) {
    facts.several_kernels = host.installed_kernels();
    base::sort_newest_first(facts.several_kernels);
  }
  if (!releases) return;
  facts.kernel = read_kernel(host, releases->front());
  for (auto release = releases->begin() + 1; release != releases->end(); ++release)
    facts.further_kernels.push_back(read_kernel(host, *release));
  const auto lacks = [&](const std::string& release) {
    return facts.installed && std::ranges::count(facts.installed->without, release) != 0;
  };
  if (facts.follows_kernels && (!facts.kernels_without.empty() || std::ranges::any_of(facts.followed_kernels, lacks)))
    facts.boot_default = read_boot_default(host, releases->front(), without_modules(facts),
                                           facts.installed ? facts.installed->kept_entry : "");
  facts.has_make = !find_program(host, "make").empty();
}

bool enforces_signatures(const HostFacts& facts) {
  return !facts.kernel.enforces.empty() ||
         std::ranges::any_of(facts.further_kernels, [](const KernelFacts& one) { return !one.enforces.empty(); });
}

}  // namespace

std::vector<nvidia::Gpu> HostFacts::usable_gpus() const {
  std::vector<nvidia::Gpu> usable;
  std::ranges::copy_if(gpus, std::back_inserter(usable),
                       [](const nvidia::Gpu& gpu) { return !gpu.driver.starts_with("vfio"); });
  return usable;
}

std::vector<std::string> HostFacts::kernel_releases() const {
  std::vector<std::string> releases;
  if (!kernel.release.empty()) releases.push_back(kernel.release);
  for (const auto& one : further_kernels) releases.push_back(one.release);
  return releases;
}

HostFacts read_host_facts(const Host& host, const KernelChoice& choice, const ParameterValues& parameters,
                          const TrustedKeys& named) {
  HostFacts facts;
  facts.installed = read_receipt(host);
  read_hardware(host, facts);
  read_kernels(host, choice, facts);
  if (facts.installed) facts.kernel_trial = read_kernel_trial(host, running_kernel(host));
  if (enforces_signatures(facts)) facts.keys = read_trusted_keys(host, named);
  facts.os = os_tag(host);
  facts.os_family = host.os_release("ID") + " " + host.os_release("ID_LIKE");
  facts.kernel_hooks = kernel_hooks(host);
  facts.has_systemd = host.exists("/usr/lib/systemd/systemd") || host.exists("/lib/systemd/systemd");
  facts.lib_folder = lib_folder(host);
  facts.public_libdir = public_libdir(host);
  facts.existing = find_existing_drivers(host, facts.kernel_releases());
  facts.modprobe = read_modprobe_config(host);
  if (facts.loaded && host.live()) facts.loaded_parameters = read_loaded_parameters(host, parameters);
  return facts;
}

}  // namespace slipway::driver
