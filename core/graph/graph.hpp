// SPDX-License-Identifier: Apache-2.0
// core/graph/graph.hpp - the order of components: a DAG of after, requires and conflicts, by name or capability.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "core/loader/manifest.hpp"

namespace slipway::core {

/// The components of one spec in a total order (topological, then by name).
struct Graph {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> requires_;  ///< component to the components it requires
  std::map<std::string, std::vector<std::string>> before;  ///< component to its direct predecessors: after and requires
};

/// @param known  the components of all plugins: the error for an unmet requirement names those that would meet it
/// Errors: `invalid` a cycle (its path is shown) or an unmet requirement (with possible providers), `conflict` two
/// components that exclude each other, or a component that is listed twice
Result<Graph> make_graph(const std::vector<const Manifest*>& components,
                         const std::vector<const Manifest*>& known = {});

// A name in `after`, `requires` or `conflicts` means the component of that name and all components that provide it.

/// True when the name means this component.
bool is_meant(const Manifest& component, const std::string& name);

/// Returns the components that `name` means to `asker`, without `asker` itself.
std::set<std::string> components_for_name(const std::string& name, const std::string& asker,
                                          const std::vector<const Manifest*>& components);

/// True when one of the names means this component.
bool is_among(const Manifest& component, const std::vector<std::string>& names);

}  // namespace slipway::core
