// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/resources.hpp - the offer to kubelet: resources, the ids of their devices, and how they
// are shared.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "deviceplugin/devices/inventory.hpp"
#include "nvidia/config/settings.hpp"

namespace slipway::deviceplugin {

using namespace nvidia::config;

/// A GPU or MIG device of the inventory; several ids may stand for it.
struct Device {
  std::string uuid;          ///< "GPU-…" or "MIG-…"
  std::string index;         ///< "0" or "0:1"
  std::string gpu;           ///< UUID of the GPU that it is on
  std::size_t position = 0;  ///< index of that GPU in the list that nearness was read for
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
  bool mig = false;
  std::optional<int> numa_node;
  std::uint64_t memory_bytes = 0;
  std::vector<std::string> paths;  ///< its device nodes, below a /dev
  bool operator==(const Device&) const = default;
};

/// An id that kubelet receives: "GPU-…", or "GPU-…::3" for the fourth replica.
struct Id {
  std::string id;
  std::size_t device = 0;  ///< in Resource::devices
  bool operator==(const Id&) const = default;
};

struct Resource {
  std::string name;  ///< "nvidia.com/gpu"
  std::vector<Device> devices;
  std::vector<Id> ids;
  unsigned replicas = 1;
  SharingKind sharing = SharingKind::none;
  bool operator==(const Resource&) const = default;

  const Id* find(std::string_view id) const;
  bool shared() const { return sharing != SharingKind::none; }
};

using Resources = std::map<std::string, Resource>;

/// Devices that an entry of `sharing` names and that are not available.
struct Missing {
  std::string where;  ///< the entry
  std::string what;
  std::string next;
  bool is_lost = false;   ///< they are on a GPU that cannot be read; else the config does not fit this machine
  bool may_come = false;  ///< another MIG layout would provide them
  bool operator==(const Missing&) const = default;
};

struct Remarks {
  std::vector<std::string> notes;  ///< notes for users: what is left out, and why
  std::vector<Missing> missing;
};

/// Computes the resources of an inventory under these settings. Without side effects: ids and order are always the
/// same. Missing devices are left out; everything else is offered.
/// @param absent  GPUs that cannot be read, which an index or a count may refer to
/// Errors: `invalid` the settings do not fit the machine (more replicas than kubelet or MPS takes); `not_found`
///         another MIG layout would do (unlike MIG devices with strategy single); with the remedy
Result<Resources> make_resources(const std::vector<Gpu>& gpus, const Settings& settings, Remarks& remarks,
                                 const std::vector<AbsentGpu>& absent = {});

/// "GPU-…::3" -> "GPU-…".
std::string_view without_replica(std::string_view id);

/// Replaces the devices that `sharing` selects by replicas, under its resource name; other devices are unchanged. A
/// resource whose devices are all lost stays, with an empty list. Errors: `invalid` more replicas than kubelet or MPS
/// takes; `not_found` MPS is configured for a MIG device.
Status share(const Settings& settings, const std::vector<Gpu>& gpus, const std::vector<AbsentGpu>& absent,
             Resources& resources, Remarks& remarks);

}  // namespace slipway::deviceplugin
