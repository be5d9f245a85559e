// SPDX-License-Identifier: Apache-2.0
// core/graph/names.hpp - which components a name means: the component of that name and all that provide it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/loader/manifest.hpp"

namespace slipway::core {

class ComponentNames {
 public:
  explicit ComponentNames(const std::vector<const Manifest*>& components);

  /// The components that `name` means to `asker`: never itself.
  std::set<std::string> meant_by(const std::string& name, const std::string& asker) const;
  /// Every name and capability there is.
  std::vector<std::string> all() const;

 private:
  std::map<std::string, std::set<std::string>> components_;  ///< by name or capability
};

}  // namespace slipway::core
