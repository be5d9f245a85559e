// SPDX-License-Identifier: Apache-2.0
// core/graph/names.hpp - what `after`, `requires` and `conflicts` mean by a name: the component of that name and all
// that provide it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/loader/manifest.hpp"

namespace slipway::core {

/// The name means this component.
bool is_meant(const Manifest& component, const std::string& name);

/// The components that `name` means to `asker`: never itself.
std::set<std::string> meant_by(const std::string& name, const std::string& asker,
                               const std::vector<const Manifest*>& components);

/// One of the names means this component.
bool is_among(const Manifest& component, const std::vector<std::string>& names);

}  // namespace slipway::core
