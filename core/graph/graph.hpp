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

/// The components of one spec in their one total order (topological, then by name).
struct Graph {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> requires_;  ///< component to the components it requires
  std::map<std::string, std::vector<std::string>> before;  ///< component to those right before it: after and requires
};

/// @param known  the components of all plugins: an unmet requirement then says which of them would meet it
/// Errors: `invalid` a cycle (the path is shown), an unmet requirement (who could provide it), `conflict` two that
/// exclude each other, or one component that is there twice.
Result<Graph> make_graph(const std::vector<const Manifest*>& components,
                         const std::vector<const Manifest*>& known = {});

// What `after`, `requires` and `conflicts` mean by a name: the component of that name and all that provide it.

/// The name means this component.
bool is_meant(const Manifest& component, const std::string& name);

/// The components that `name` means to `asker`: never itself.
std::set<std::string> meant_by(const std::string& name, const std::string& asker,
                               const std::vector<const Manifest*>& components);

/// One of the names means this component.
bool is_among(const Manifest& component, const std::vector<std::string>& names);

}  // namespace slipway::core
