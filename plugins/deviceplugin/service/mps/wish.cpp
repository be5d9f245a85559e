// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/wish.hpp"

#include <algorithm>

namespace slipway::deviceplugin {

std::map<std::string, MpsWish> mps_wishes(const Resources& resources, const std::vector<Gpu>& gpus) {
  constexpr unsigned kAll = 100;
  std::map<std::string, MpsWish> wishes;
  for (const auto& [name, resource] : resources) {
    if (resource.sharing != SharingKind::mps) continue;
    MpsWish wish;
    std::size_t most = 1;
    for (std::size_t i = 0; i < resource.devices.size(); ++i) {
      const Device& device = resource.devices[i];
      const auto replicas = static_cast<std::size_t>(std::ranges::count(resource.ids, i, &Id::device));
      if (replicas < 2) continue;  // exclusive, beside shared ones of the same name
      most = std::max(most, replicas);
      wish.gpus.push_back(device.uuid);
      wish.limits.push_back({gpus[device.position].index, (device.memory_bytes / replicas) >> 20U});
    }
    wish.thread_percentage = std::max(1U, kAll / static_cast<unsigned>(most));
    if (!wish.gpus.empty()) wishes[name] = std::move(wish);
  }
  return wishes;
}

std::string memory_command(const MpsWish::Limit& limit) {
  return "set_default_device_pinned_mem_limit " + std::to_string(limit.index) + " " + std::to_string(limit.memory_mib) +
         "M";
}

std::string threads_command(unsigned percentage) {
  return "set_default_active_thread_percentage " + std::to_string(percentage);
}

}  // namespace slipway::deviceplugin
