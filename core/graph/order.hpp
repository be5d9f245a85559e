// SPDX-License-Identifier: Apache-2.0
// core/graph/order.hpp - the one total order of a graph, or the cycle that keeps it from having one.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace slipway::core {

/// Every component with those right before it; each of those is a key as well.
using Predecessors = std::map<std::string, std::vector<std::string>>;

/// Topological, and by name among those that are free to come next; shorter than the map when there is a cycle.
std::vector<std::string> total_order(const Predecessors& before);

/// A shortest cycle through the first component, by name, that is on one; each is right before the next, and the last
/// before the first. Empty when there is none.
std::vector<std::string> find_cycle(const Predecessors& before);

}  // namespace slipway::core
