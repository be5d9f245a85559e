// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/offer_check.hpp"

#include "deviceplugin/devices/resources.hpp"
#include "nvidia/gpu_managers.hpp"

namespace slipway::deviceplugin {
namespace {

/// The GPUs of this machine; nothing where they cannot be asked, which others say.
std::optional<Inventory> look_at_gpus(const std::string& driver_root, const Host& host) {
  // A look at a live machine loads no module, which NVML would have its helper do.
  if (!host.has_kernel_view() || (host.live() && !host.module_loaded("nvidia"))) return std::nullopt;
  const auto choice = nvidia::nvml::choose_library(host, driver_root);
  if (!choice) return std::nullopt;
  const auto nvml = nvidia::nvml::Nvml::open({.library = *choice});
  if (!nvml) return std::nullopt;
  auto inventory = read_inventory(**nvml, host);
  if (!inventory) return std::nullopt;
  nvidia::GpuBus bus;
  place_on_bus(host, bus, *inventory);
  if (const auto managers = nvidia::read_gpu_managers(host)) apply_managers(*managers, inventory->gpus);
  return *std::move(inventory);
}

bool depends_on_gpus(const Settings& settings) {
  return settings.sharing.kind != SharingKind::none || settings.mig_strategy == MigStrategy::single;
}

}  // namespace

OfferCheck check_offer(const Settings& settings, const std::string& driver_root, const Host& host) {
  if (!depends_on_gpus(settings)) return {};
  const auto inventory = look_at_gpus(driver_root, host);
  return inventory ? judge_offer(inventory->gpus, inventory->absent, settings) : OfferCheck();
}

}  // namespace slipway::deviceplugin
