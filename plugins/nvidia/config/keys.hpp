// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/keys.hpp - a map of a config, key by key.
#pragma once

#include <string>
#include <vector>

#include "nvidia/config/node.hpp"

namespace slipway::nvidia::config {

/// A key of a map, and the function that sets its value.
template <class Target>
struct Key {
  const char* name;
  Status (*set)(const Node&, Target&);
};

/// For a key that belongs to another program, or has no meaning here.
inline constexpr auto kIgnore = [](const Node&, auto&) -> Status { return {}; };

/// The treatment of a key that resembles a known one.
enum class Typos { warned_of, refused };

/// Checks the keys of a map in NVIDIA's config. An unknown key gives a warning, as NVIDIA's programs ignore it; the
/// warning says where the key belongs or which one is meant. A key that is repeated in another letter case gives a
/// warning if the values are equal. Errors: `invalid`, with the place: the values of a key differ; a typo that is
/// refused.
Status check_keys(const Node& map, const std::vector<std::string>& known, Typos typos,
                  std::vector<std::string>& warnings);

/// Passes every member to the function of its key, after check_keys(). Errors: `invalid`, with the place.
template <class Target, std::size_t Count>
Status take(const Node& map, const Key<Target> (&keys)[Count], Target& target) {
  if (map.is_null()) return {};
  if (!map.is_map()) return map.wrong("expected a map", "write `key: value` lines below it");
  std::vector<std::string> known;
  for (const auto& each : keys) known.emplace_back(each.name);
  SLIPWAY_CHECK(check_keys(map, known, Typos::warned_of, target.warnings));
  for (std::size_t i = 0; i < map.keys.size(); ++i)
    for (const auto& key : keys)
      if (const Node& node = map.items[i]; same_key(key.name, map.keys[i]) && !node.is_null() &&
                                           &map.at(key.name) == &node)  // else it repeats an earlier key
        SLIPWAY_CHECK(key.set(node, target));
  return {};
}

}  // namespace slipway::nvidia::config
