// SPDX-License-Identifier: Apache-2.0
#include "core/graph/names.hpp"

namespace slipway::core {

ComponentNames::ComponentNames(const std::vector<const Manifest*>& components) {
  for (const Manifest* manifest : components) {
    components_[manifest->component].insert(manifest->component);
    for (const std::string& capability : manifest->provides) components_[capability].insert(manifest->component);
  }
}

std::set<std::string> ComponentNames::meant_by(const std::string& name, const std::string& asker) const {
  const auto found = components_.find(name);
  if (found == components_.end()) return {};
  std::set<std::string> meant = found->second;
  meant.erase(asker);
  return meant;
}

std::vector<std::string> ComponentNames::all() const {
  std::vector<std::string> names;
  for (const auto& [name, components] : components_) names.push_back(name);
  return names;
}

}  // namespace slipway::core
