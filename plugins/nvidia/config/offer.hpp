// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/offer.hpp - the offer of a resource's devices by `sharing`: the devices, the number of
// replicas, and the name. Device plugin and feature discovery agree, because both call this code.
#pragma once

#include <string>
#include <vector>

#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// The properties of a GPU or MIG device that `sharing` uses.
struct Shareable {
  std::string index;  ///< "0", or "0:1" for a MIG device
  std::string uuid;
  std::string product;          ///< of its GPU, as NVML returns it
  std::size_t lost_before = 0;  ///< devices of its resource that come before it and cannot be read

  bool has_name(const std::string& word) const { return index == word || (!uuid.empty() && uuid == word); }
};

/// The offer of one device to kubelet.
struct Offer {
  std::string resource;
  unsigned replicas = 1;  ///< 1: it is not shared
};

/// True when an entry chooses devices by number, or the first devices: then their positions on the PCI bus matter.
bool chooses_by_place(const Sharing& sharing);

/// True when an entry applies to a device. @param place  position of the device in its resource, in index order
bool is_about(const DeviceChoice& choice, const Shareable& device, std::size_t place);

/// Returns the resource that contains the replicas of `resource` according to an entry.
std::string shared_name(const Sharing& sharing, const SharedResource& entry, const std::string& resource);

/// Returns an offer for each device of a resource; the first entry that applies to a device counts. Entries that apply
/// to no device are ignored: a caller that rejects them must look for them.
std::vector<Offer> offers_of(const Sharing& sharing, const std::string& resource,
                             const std::vector<Shareable>& devices);

}  // namespace slipway::nvidia::config
