// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/offer.hpp - how `sharing` offers the devices of a resource: which of them, to how many, under
// which name. Device plugin and feature discovery answer alike, because they ask here.
#pragma once

#include <string>
#include <vector>

#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// A GPU or MIG device, as far as `sharing` looks at it.
struct Shareable {
  std::string index;  ///< "0", or "0:1" for a MIG device
  std::string uuid;
  std::string product;          ///< of its GPU, as NVML gives it
  std::size_t lost_before = 0;  ///< devices of its resource that cannot be asked, and come before it

  bool has_name(const std::string& word) const { return index == word || (!uuid.empty() && uuid == word); }
};

/// What kubelet gets of one device.
struct Offer {
  std::string resource;
  unsigned replicas = 1;  ///< 1: it is not shared
};

/// An entry chooses devices by their numbers, or the first so many: their places on the PCI bus count then.
bool chooses_by_place(const Sharing& sharing);

/// Whether an entry is about a device. @param place  of the device among those of its resource, in index order
bool is_about(const DeviceChoice& choice, const Shareable& device, std::size_t place);

/// The resource that gets the replicas which an entry makes of `resource`.
std::string shared_name(const Sharing& sharing, const SharedResource& entry, const std::string& resource);

/// An offer for each device of a resource; the first entry that is about a device counts. Entries that are about none
/// are passed over: who refuses them has to look for them.
std::vector<Offer> offers_of(const Sharing& sharing, const std::string& resource,
                             const std::vector<Shareable>& devices);

}  // namespace slipway::nvidia::config
