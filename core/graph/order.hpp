// SPDX-License-Identifier: Apache-2.0
// core/graph/order.hpp - the total order of a graph, or the cycle that prevents it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace slipway::core {

/// Every component with its direct predecessors, each of which is a key as well.
using Predecessors = std::map<std::string, std::vector<std::string>>;

/// Returns a topological order, by name among those that are ready; shorter than the map when there is a cycle.
std::vector<std::string> total_order(const Predecessors& before);

/// Returns a shortest cycle through the first component, by name, that is on one. Each element is a direct predecessor
/// of the next, and the last of the first. Empty when there is no cycle.
std::vector<std::string> find_cycle(const Predecessors& before);

}  // namespace slipway::core
