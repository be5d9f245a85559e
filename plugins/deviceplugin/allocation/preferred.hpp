// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/allocation/preferred.hpp - which of the free devices a container should get. From memory alone,
// bounded.
#pragma once

#include <string>
#include <vector>

#include "deviceplugin/devices/inventory.hpp"
#include "deviceplugin/devices/resources.hpp"

namespace slipway::deviceplugin {

struct PreferredRequest {
  std::vector<std::string> available;  ///< ids that kubelet would give, in any order
  std::vector<std::string> required;   ///< of these, what must be in the answer
  std::size_t size = 0;                ///< of the answer, with the required ones
};

/// The ids to take, always the same for the same request whatever its order. A request that cannot be met gets the
/// required ids, or nothing: kubelet then chooses by itself. Never an error: that would fail the pod.
///
/// Whole GPUs: the set whose pairs are nearest to each other; among equals the one that leaves the free GPUs nearest to
/// each other; then the lowest indexes. MIG devices: packed onto GPUs that are in use already. Replicas: by policy, the
/// GPU with the fewest (distributed) or most (packed) replicas in use, ties by nearness to those chosen, then index.
///
/// Devices that containers have without kubelet counting it come last, however near they are.
/// @param uncounted  of uncounted_uses(); empty: there are none
std::vector<std::string> preferred(const Resource& resource, const PreferredRequest& request, AllocationPolicy policy,
                                   const Nearness& nearness, const std::vector<unsigned>& uncounted = {});

/// The nearest set of `size` among `candidates` that holds all of `required`; positions, sorted.
/// Exact up to 16 candidates; above that a greedy choice, improved by exchanges.
std::vector<std::size_t> nearest_set(const std::vector<std::size_t>& candidates,
                                     const std::vector<std::size_t>& required, std::size_t size,
                                     const Nearness& nearness);

}  // namespace slipway::deviceplugin
