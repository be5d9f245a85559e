// SPDX-License-Identifier: Apache-2.0
// core/graph/graph.hpp - the order of components: a DAG of after, requires and conflicts, by name or capability.
#pragma once

#include <map>
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
  /// Graphviz text of `slipway graph`: requires as full lines, after as dashed ones.
  std::string to_dot() const;
};

/// @param known  the components of all plugins: an unmet requirement then says which of them would meet it
/// Errors: `invalid` a cycle (the path is shown), an unmet requirement (who could provide it), `conflict` two that
/// exclude each other, or one component that is there twice.
Result<Graph> make_graph(const std::vector<const Manifest*>& components,
                         const std::vector<const Manifest*>& known = {});

}  // namespace slipway::core
