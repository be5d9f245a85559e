// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/allocation/preferred_devices.hpp - the free devices that a container should get. Works in memory
// only, in bounded time.
#pragma once

#include <string>
#include <vector>

#include "deviceplugin/devices/inventory.hpp"
#include "deviceplugin/devices/resources.hpp"

namespace slipway::deviceplugin {

struct PreferredRequest {
  std::vector<std::string> available;  ///< ids that kubelet may allocate, in any order
  std::vector<std::string> required;   ///< the ids among them that the answer must contain
  std::size_t size = 0;                ///< number of ids in the answer, required ones included
};

/// Returns the ids to allocate, always the same for the same request in any order. If the request cannot be met, it
/// returns the required ids or nothing, and kubelet chooses. It never fails: that would fail the pod.
///
/// Whole GPUs: the set whose pairs are nearest to each other; among equals the one that leaves the free GPUs nearest to
/// each other; then the lowest indexes. MIG devices: packed onto GPUs that are already in use. Replicas: by policy, the
/// GPU with the fewest (distributed) or most (packed) replicas in use, ties by nearness to those chosen, then index.
///
/// Devices with uses that kubelet does not count come last, however near they are.
/// @param uncounted  from uncounted_uses(); empty: there are none
std::vector<std::string> preferred(const Resource& resource, const PreferredRequest& request, AllocationPolicy policy,
                                   const Nearness& nearness, const std::vector<unsigned>& uncounted = {});

/// Returns the nearest set of `size` positions among `candidates` that contains all of `required`, sorted. Exact up to
/// 16 candidates; for more, greedy and improved by exchanges.
std::vector<std::size_t> nearest_set(const std::vector<std::size_t>& candidates,
                                     const std::vector<std::size_t>& required, std::size_t size,
                                     const Nearness& nearness);

}  // namespace slipway::deviceplugin
