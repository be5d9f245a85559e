// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/strict_keys.hpp - a map of a file, key by key: an unknown key is an error. A repeated key is
// refused earlier (node.hpp).
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>

#include <slipway/text.hpp>

#include "nvidia/config/node.hpp"

namespace slipway::nvidia::config {

template <class Target>
struct StrictKey {
  std::string_view name;
  std::function<Status(const Node&, Target&)> take;
};

/// Reads each member of a map by its key. Errors: `invalid`, with the place: not a map, an unknown key (with the
/// nearest one), an invalid value.
template <class Target>
Status take_strictly(const Node& node, const std::string& path, const std::vector<StrictKey<Target>>& keys,
                     Target& target) {
  const std::string place = path.empty() ? "the file" : path;
  if (!node.is_map()) return node.wrong(place + " has to be a map", "write its keys as {key: value}");
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const StrictKey<Target>& each) { return each.name == node.keys[i]; });
    if (key == keys.end()) {
      std::vector<std::string> known;
      for (const StrictKey<Target>& each : keys) known.emplace_back(each.name);
      const std::string near = nearest_word(node.keys[i], known);
      return node.items[i].wrong_key(
          "unknown key '" + node.keys[i] + "' in " + place,
          near.empty() ? "the keys are " + joined(known, ", ") : "did you mean '" + near + "'?");
    }
    Status taken = key->take(node.items[i], target);
    if (!taken) {
      Error error = taken.error();
      const std::string full = path.empty() ? node.keys[i] : path + "." + node.keys[i];
      if (error.what.find(full) == std::string::npos) error.what = full + ": " + error.what;
      return error;
    }
  }
  return {};
}

}  // namespace slipway::nvidia::config
