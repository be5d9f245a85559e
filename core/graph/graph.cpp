// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph.hpp"

#include <algorithm>
#include <set>

#include <slipway/text.hpp>

#include "core/graph/order.hpp"

namespace slipway::core {
namespace {

using Manifests = std::vector<const Manifest*>;

std::string spec_key(const std::string& component) { return "spec.components." + component; }

/// Returns all names and capabilities.
std::vector<std::string> names_of(const Manifests& known) {
  std::set<std::string> names;
  for (const Manifest* manifest : known) {
    names.insert(manifest->component);
    names.insert(manifest->provides.begin(), manifest->provides.end());
  }
  return {names.begin(), names.end()};
}

Error unmet(const Manifest& manifest, const std::string& name, const Manifests& known) {
  const std::set<std::string> providers = components_for_name(name, manifest.component, known);
  const std::vector<std::string> could(providers.begin(), providers.end());
  std::string next = "install a plugin that provides '" + name + "', or drop " + manifest.component + " from the spec";
  if (!could.empty())
    next = "add " + listed(could, "or") + " to spec.components, or drop " + manifest.component + " from the spec";
  return Error{ErrorCode::invalid,
               manifest.component + " requires '" + name + "', which no component of the spec provides" +
                   (could.empty() ? did_you_mean(name, names_of(known)) : ""),
               spec_key(manifest.component),
               next,
               {}};
}

Error excluded(const Manifest& manifest, const std::string& name, const std::string& other) {
  const std::string subject = is_meant(manifest, name) ? "both provide" : other + " provides";
  return Error{ErrorCode::conflict,
               manifest.component + " and " + other + " exclude each other" +
                   (name == other ? "" : ": " + subject + " '" + name + "'"),
               spec_key(manifest.component),
               "drop one of them from the spec",
               {}};
}

/// Returns the reason why `second` comes after `first`, for a cycle's details.
std::string reason(const Manifest& second, const std::string& first, const Manifests& components) {
  for (const auto& [word, list] : {std::pair{"requires", &second.requires_}, std::pair{"after", &second.after}})
    for (const std::string& name : *list)
      if (components_for_name(name, second.component, components).contains(first))
        return second.component + " " + word + " " + first + (name == first ? "" : " (as '" + name + "')");
  return second.component + " after " + first;
}

Error cycle_error(const std::vector<std::string>& cycle, const std::map<std::string, const Manifest*>& by_name,
                  const Manifests& components) {
  std::string path;
  for (const std::string& name : cycle) path += name + " -> ";
  Error error{ErrorCode::invalid,
              "components wait for each other in a circle: " + path + cycle.front(),
              spec_key(cycle.front()),
              "drop one of them from the spec; their plugins contradict each other",
              {}};
  for (std::size_t i = 0; i < cycle.size(); ++i)
    error.details.emplace_back("since", reason(*by_name.at(cycle[(i + 1) % cycle.size()]), cycle[i], components));
  return error;
}

/// Adds the edges into one component.
Status connect(const Manifest& manifest, const Manifests& components, const Manifests& known, Graph& graph) {
  std::set<std::string> required;
  for (const std::string& name : manifest.requires_) {
    const auto meant = components_for_name(name, manifest.component, components);
    if (meant.empty()) return unmet(manifest, name, known);
    required.insert(meant.begin(), meant.end());
  }
  for (const std::string& name : manifest.conflicts)
    if (const auto meant = components_for_name(name, manifest.component, components); !meant.empty())
      return excluded(manifest, name, *meant.begin());
  std::set<std::string> before = required;
  for (const std::string& name : manifest.after)
    before.merge(components_for_name(name, manifest.component, components));
  graph.requires_[manifest.component].assign(required.begin(), required.end());
  graph.before[manifest.component].assign(before.begin(), before.end());
  return {};
}

}  // namespace

Result<Graph> make_graph(const Manifests& components, const Manifests& known) {
  std::map<std::string, const Manifest*> by_name;
  for (const Manifest* manifest : components)
    if (!by_name.emplace(manifest->component, manifest).second)
      return Error{ErrorCode::conflict,
                   "component '" + manifest->component + "' appears twice",
                   spec_key(manifest->component),
                   "keep one plugin that holds it",
                   {}};
  Graph graph;
  for (const auto& [name, manifest] : by_name) SLIPWAY_CHECK(connect(*manifest, components, known, graph));
  if (const auto cycle = find_cycle(graph.before); !cycle.empty()) return cycle_error(cycle, by_name, components);
  graph.order = total_order(graph.before);
  return graph;
}

bool is_meant(const Manifest& component, const std::string& name) {
  return name == component.component || std::ranges::count(component.provides, name) > 0;
}

std::set<std::string> components_for_name(const std::string& name, const std::string& asker,
                                          const std::vector<const Manifest*>& components) {
  std::set<std::string> meant;
  for (const Manifest* manifest : components)
    if (manifest->component != asker && is_meant(*manifest, name)) meant.insert(manifest->component);
  return meant;
}

bool is_among(const Manifest& component, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) { return is_meant(component, name); });
}

}  // namespace slipway::core
