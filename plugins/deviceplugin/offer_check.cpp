// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/offer_check.hpp"

#include "deviceplugin/devices/resources.hpp"
#include "nvidia/gpu_managers.hpp"

namespace slipway::deviceplugin {
namespace {

/// Returns the GPUs of this machine; empty if they cannot be read, which other findings report.
std::optional<Inventory> look_at_gpus(const std::string& driver_root, const Host& host) {
  // Reading a live machine must not load a module, and NVML's helper would do that.
  if (!host.has_kernel_view() || (host.live() && !host.module_loaded("nvidia"))) return std::nullopt;
  const auto choice = nvidia::nvml::choose_library(host, driver_root);
  if (!choice) return std::nullopt;
  const auto nvml = nvidia::nvml::Nvml::open({.library = *choice, .find_hanging = true});
  if (!nvml) return std::nullopt;
  auto inventory = read_inventory(**nvml, host);
  if (!inventory) return std::nullopt;
  nvidia::GpuBus bus;
  place_on_bus(host, bus, *inventory);
  if (const auto managers = nvidia::read_gpu_managers(host)) apply_managers(*managers, inventory->gpus);
  return *std::move(inventory);
}

/// Assumes, before a driver is loaded, one GPU of the newest kind for each GPU on the PCI bus. Their names and MIG
/// devices are not known yet.
std::vector<Gpu> gpus_on_the_bus(const Host& host) {
  constexpr int kNewest = 99;
  std::vector<Gpu> gpus;
  nvidia::GpuBus bus;
  bus.look(host, {}, {});
  for (const nvidia::BusGpu& each : bus.gpus()) {
    const auto number = static_cast<unsigned>(gpus.size());
    gpus.push_back({.uuid = "GPU-" + each.address, .index = number, .address = each.address, .compute_major = kNewest});
    gpus.back().place = number;
  }
  if (const auto managers = nvidia::read_gpu_managers(host)) apply_managers(*managers, gpus);
  return gpus;
}

OfferCheck check_without_driver(const Settings& settings, const Host& host) {
  const bool names_devices_by_model = !settings.gpu_names.empty() || settings.mig_strategy != MigStrategy::none;
  if (names_devices_by_model || !host.has_kernel_view()) return {};
  OfferCheck check = judge_offer(gpus_on_the_bus(host), {}, settings);
  if (check.problem && check.problem->code != ErrorCode::invalid) check.problem.reset();  // a UUID, perhaps
  check.is_known = false;
  return check;
}

bool depends_on_gpus(const Settings& settings) {
  return settings.sharing.kind != SharingKind::none || settings.mig_strategy == MigStrategy::single;
}

}  // namespace

OfferCheck check_offer(const Settings& settings, const std::string& driver_root, const Host& host) {
  if (!depends_on_gpus(settings)) return {};
  if (const auto choice = nvidia::nvml::choose_library(host, driver_root);
      !choice && choice.error().code != ErrorCode::offline) {
    OfferCheck check;  // the library that SLIPWAY_NVML names is rejected
    check.problem = choice.error();
    return check;
  }
  const auto inventory = look_at_gpus(driver_root, host);
  return inventory ? judge_offer(inventory->gpus, inventory->absent, settings) : check_without_driver(settings, host);
}

}  // namespace slipway::deviceplugin
