// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/settings.hpp"

#include <algorithm>

namespace slipway::deviceplugin {

namespace {

std::uint64_t limit_mib(std::uint64_t memory_bytes, std::size_t replicas, unsigned percent) {
  const std::uint64_t memory_mib = memory_bytes >> 20U;
  return std::min(memory_mib, ((memory_bytes / replicas) >> 20U) * percent / kWholeShare);
}

}  // namespace

std::map<std::string, MpsSettings> mps_settings(const Resources& resources, const std::vector<Gpu>& gpus,
                                                unsigned memory_percent) {
  constexpr unsigned kAll = 100;
  std::map<std::string, MpsSettings> wanted;
  for (const auto& [name, resource] : resources) {
    if (resource.sharing != SharingKind::mps) continue;
    MpsSettings settings;
    std::size_t most = 1;
    for (std::size_t i = 0; i < resource.devices.size(); ++i) {
      const Device& device = resource.devices[i];
      const auto replicas = static_cast<std::size_t>(std::ranges::count(resource.ids, i, &Id::device));
      if (replicas < 2) continue;  // an exclusive device among shared ones of the same resource
      most = std::max(most, replicas);
      settings.gpus.push_back(device.uuid);
      settings.limits.push_back(
          {gpus[device.position].index, limit_mib(device.memory_bytes, replicas, memory_percent)});
    }
    settings.thread_percentage = std::max(1U, kAll / static_cast<unsigned>(most));
    if (!settings.gpus.empty()) wanted[name] = std::move(settings);
  }
  return wanted;
}

std::string memory_command(const MpsSettings::Limit& limit) {
  return "set_default_device_pinned_mem_limit " + std::to_string(limit.index) + " " + std::to_string(limit.memory_mib) +
         "M";
}

std::string threads_command(unsigned percentage) {
  return "set_default_active_thread_percentage " + std::to_string(percentage);
}

}  // namespace slipway::deviceplugin
