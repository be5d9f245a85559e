// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <slipway/text.hpp>

#include "core/graph/names.hpp"
#include "core/graph/order.hpp"

namespace slipway::core {
namespace {

std::string spec_key(const std::string& component) { return "spec.components." + component; }

Error unmet(const Manifest& manifest, const std::string& name, const std::vector<const Manifest*>& known) {
  const ComponentNames names(known);
  const std::set<std::string> providers = names.meant_by(name, manifest.component);
  const std::vector<std::string> could(providers.begin(), providers.end());
  std::string next = "install a plugin that provides '" + name + "', or drop " + manifest.component + " from the spec";
  if (!could.empty())
    next = "add " + listed(could, "or") + " to spec.components, or drop " + manifest.component + " from the spec";
  return Error{ErrorCode::invalid,
               manifest.component + " requires '" + name + "', which no component of the spec provides" +
                   (could.empty() ? did_you_mean(name, names.all()) : ""),
               spec_key(manifest.component),
               next,
               {}};
}

Error excluded(const Manifest& manifest, const std::string& name, const std::string& other) {
  const auto& provided = manifest.provides;
  const bool both = std::find(provided.begin(), provided.end(), name) != provided.end();
  const std::string subject = both ? "both provide" : other + " provides";
  return Error{ErrorCode::conflict,
               manifest.component + " and " + other + " exclude each other" +
                   (name == other ? "" : ": " + subject + " '" + name + "'"),
               spec_key(manifest.component),
               "drop one of them from the spec",
               {}};
}

/// Why `second` comes after `first`, for a cycle's details.
std::string reason(const Manifest& second, const std::string& first, const ComponentNames& names) {
  for (const auto& [word, list] : {std::pair{"requires", &second.requires_}, std::pair{"after", &second.after}})
    for (const std::string& name : *list)
      if (names.meant_by(name, second.component).count(first) > 0)
        return second.component + " " + word + " " + first + (name == first ? "" : " (as '" + name + "')");
  return second.component + " after " + first;
}

Error cycle_error(const std::vector<std::string>& cycle, const std::map<std::string, const Manifest*>& by_name,
                  const ComponentNames& names) {
  std::string path;
  for (const std::string& name : cycle) path += name + " -> ";
  Error error{ErrorCode::invalid,
              "components go round in a circle: " + path + cycle.front(),
              spec_key(cycle.front()),
              "drop one of them from the spec; their plugins contradict each other",
              {}};
  for (std::size_t i = 0; i < cycle.size(); ++i)
    error.details.emplace_back("since", reason(*by_name.at(cycle[(i + 1) % cycle.size()]), cycle[i], names));
  return error;
}

/// The edges into one component.
Status connect(const Manifest& manifest, const ComponentNames& names, const std::vector<const Manifest*>& known,
               Graph& graph) {
  std::set<std::string> required;
  for (const std::string& name : manifest.requires_) {
    const auto meant = names.meant_by(name, manifest.component);
    if (meant.empty()) return unmet(manifest, name, known);
    required.insert(meant.begin(), meant.end());
  }
  for (const std::string& name : manifest.conflicts)
    if (const auto meant = names.meant_by(name, manifest.component); !meant.empty())
      return excluded(manifest, name, *meant.begin());
  std::set<std::string> before = required;
  for (const std::string& name : manifest.after) before.merge(names.meant_by(name, manifest.component));
  graph.requires_[manifest.component].assign(required.begin(), required.end());
  graph.before[manifest.component].assign(before.begin(), before.end());
  return {};
}

}  // namespace

Result<Graph> make_graph(const std::vector<const Manifest*>& components, const std::vector<const Manifest*>& known) {
  const ComponentNames names(components);
  std::map<std::string, const Manifest*> by_name;
  for (const Manifest* manifest : components)
    if (!by_name.emplace(manifest->component, manifest).second)
      return Error{ErrorCode::conflict,
                   "component '" + manifest->component + "' is there twice",
                   spec_key(manifest->component),
                   "keep one plugin that holds it",
                   {}};
  Graph graph;
  for (const auto& [name, manifest] : by_name) SLIPWAY_CHECK(connect(*manifest, names, known, graph));
  if (const auto cycle = find_cycle(graph.before); !cycle.empty()) return cycle_error(cycle, by_name, names);
  graph.order = total_order(graph.before);
  return graph;
}

std::string Graph::to_dot() const {
  std::ostringstream dot;
  dot << "digraph slipway {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const std::string& name : order) dot << "  \"" << name << "\";\n";
  for (const std::string& name : order) {
    const auto& required = requires_.at(name);
    for (const std::string& first : before.at(name)) {
      const bool needs = std::find(required.begin(), required.end(), first) != required.end();
      dot << "  \"" << first << "\" -> \"" << name << "\"" << (needs ? "" : " [style=dashed]") << ";\n";
    }
  }
  dot << "}\n";
  return dot.str();
}

}  // namespace slipway::core
