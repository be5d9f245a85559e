// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/offer.hpp"

#include <algorithm>

namespace slipway::nvidia::config {

bool chooses_by_place(const Sharing& sharing) {
  return std::ranges::any_of(sharing.resources, [](const SharedResource& entry) {
    return entry.devices.count.has_value() || !entry.devices.list.empty();
  });
}

bool is_about(const DeviceChoice& choice, const Shareable& device, std::size_t place) {
  const auto has_name = [&device](const std::string& word) { return device.has_name(word); };
  const auto fitting = [&device](const std::string& pattern) { return fits(pattern, device.product); };
  return choice.all || (choice.count && place < *choice.count) || std::ranges::any_of(choice.list, has_name) ||
         std::ranges::any_of(choice.products, fitting);
}

std::string shared_name(const Sharing& sharing, const SharedResource& entry, const std::string& resource) {
  if (!entry.rename.empty()) return entry.rename;
  return sharing.rename_by_default ? resource + ".shared" : resource;
}

std::vector<Offer> offers_of(const Sharing& sharing, const std::string& resource,
                             const std::vector<Shareable>& devices) {
  std::vector<Offer> offers(devices.size(), Offer{.resource = resource});
  if (sharing.kind == SharingKind::none) return offers;
  for (std::size_t place = 0; place < devices.size(); ++place)
    for (const SharedResource& entry : sharing.resources) {
      if (!entry.name.empty() && entry.name != resource) continue;
      if (!is_about(entry.devices, devices[place], place + devices[place].lost_before)) continue;
      offers[place] = {.resource = shared_name(sharing, entry, resource), .replicas = entry.replicas};
      break;
    }
  return offers;
}

}  // namespace slipway::nvidia::config
