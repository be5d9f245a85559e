// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/keys.hpp - a map of a config, key by key.
#pragma once

#include <algorithm>

#include <slipway/text.hpp>

#include "nvidia/config/node.hpp"

namespace slipway::nvidia::config {

/// One key of a map and what it sets.
template <class Target>
struct Key {
  const char* name;
  Status (*set)(const Node&, Target&);
};

/// For a key that is for another program, or has no meaning here.
inline constexpr auto kIgnore = [](const Node&, auto&) -> Status { return {}; };

/// Gives every member to its key; what no key takes is a warning of the target, with the nearest one that there is.
/// Errors: `invalid`, with the place.
template <class Target, std::size_t Count>
Status take(const Node& map, const Key<Target> (&keys)[Count], Target& target) {
  if (map.is_null()) return {};
  if (!map.is_map()) return map.wrong("a map is expected here", "write `key: value` lines below it");
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    const std::string& name = map.keys[i];
    const Node& node = map.items[i];
    const auto* const key = std::ranges::find_if(keys, [&name](const auto& each) { return same_key(each.name, name); });
    if (key != std::end(keys)) {
      if (!node.is_null()) SLIPWAY_CHECK(key->set(node, target));
      continue;
    }
    std::vector<std::string> known;
    for (const auto& each : keys) known.emplace_back(each.name);
    target.warnings.push_back(node.key_where + ": unknown key '" + name + "', ignored" + did_you_mean(name, known));
  }
  return {};
}

}  // namespace slipway::nvidia::config
