// SPDX-License-Identifier: Apache-2.0
#include "core/graph/names.hpp"

#include <algorithm>

namespace slipway::core {

bool is_meant(const Manifest& component, const std::string& name) {
  return name == component.component || std::ranges::count(component.provides, name) > 0;
}

std::set<std::string> meant_by(const std::string& name, const std::string& asker,
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
