// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/keys.hpp"

#include <algorithm>
#include <map>

#include <slipway/text.hpp>

namespace slipway::nvidia::config {
namespace {

struct KeyPlace {
  std::string_view key;
  std::string_view place;
};

constexpr std::string_view kEntry = "an entry of sharing.timeSlicing.resources";

/// The right places of keys that users often misplace; not of keys that have two places.
constexpr KeyPlace kKeyPlaces[] = {
    {"timeSlicing", "sharing"},
    {"mps", "sharing"},
    {"renameByDefault", "sharing.timeSlicing"},
    {"failRequestsGreaterThanOne", "sharing.timeSlicing"},
    {"strictSpread", "sharing.timeSlicing"},
    {"oversubscription", "sharing.mps"},
    {"replicas", kEntry},
    {"rename", kEntry},
    {"devices", kEntry},
    {"migStrategy", "flags"},
    {"failOnInitError", "flags"},
    {"mpsRoot", "flags"},
    {"nvidiaDriverRoot", "flags"},
    {"nvidiaDevRoot", "flags"},
    {"gdrcopyEnabled", "flags"},
    {"gdsEnabled", "flags"},
    {"mofedEnabled", "flags"},
    {"useNodeFeatureAPI", "flags"},
    {"deviceDiscoveryStrategy", "flags"},
    {"plugin", "flags"},
    {"gfd", "flags"},
    {"passDeviceSpecs", "flags.plugin"},
    {"deviceListStrategy", "flags.plugin"},
    {"deviceIDStrategy", "flags.plugin"},
    {"cdiAnnotationPrefix", "flags.plugin"},
    {"sharedDevicesAllocationPolicy", "flags.plugin"},
    {"oneshot", "flags.gfd"},
    {"noTimestamp", "flags.gfd"},
    {"outputFile", "flags.gfd"},
    {"machineTypeFile", "flags.gfd"},
    {"sleepInterval", "flags.gfd"},
    {"channelIDs", "imex"},
    {"flags", "the top of the config"},
    {"sharing", "the top of the config"},
    {"imex", "the top of the config"},
};

bool is_one_of(const std::string& name, const std::vector<std::string>& known) {
  return std::ranges::any_of(known, [&name](const std::string& key) { return same_key(key, name); });
}

/// Returns ": it belongs below flags"; empty: the key is not part of the config.
std::string place_hint(const std::string& name, const Node& value) {
  if (same_key(name, "config") && value.at("map").is_map())
    return ": the file has the values of NVIDIA's Helm chart; a config is one entry of its config.map";
  const auto* const home =
      std::ranges::find_if(kKeyPlaces, [&](const KeyPlace& each) { return same_key(each.key, name); });
  return home == std::end(kKeyPlaces) ? "" : ": it belongs below " + std::string(home->place);
}

Status check_spellings(const Node& map, std::vector<std::string>& warnings) {
  std::map<std::string, const Node*> first_by_name;
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    std::string name = map.keys[i];
    for (char& letter : name)
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    const Node& node = map.items[i];
    const auto [first, is_new] = first_by_name.emplace(std::move(name), &node);
    if (is_new) continue;
    if (!same_value(*first->second, node)) return given_twice(map.keys[i], *first->second, node);
    warnings.push_back(equal_twice(map.keys[i], *first->second, node));
  }
  return {};
}

}  // namespace

Status check_keys(const Node& map, const std::vector<std::string>& known, Typos typos,
                  std::vector<std::string>& warnings) {
  SLIPWAY_CHECK(check_spellings(map, warnings));
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    const std::string& name = map.keys[i];
    if (is_one_of(name, known)) continue;
    std::string hint = place_hint(name, map.items[i]);
    if (hint.empty()) {
      hint = did_you_mean(name, known);
      if (typos == Typos::refused && !hint.empty())
        return map.items[i].wrong_key("unknown key '" + name + "'" + hint, "the keys here are " + joined(known));
    }
    warnings.push_back(map.items[i].key_where + ": unknown key '" + name + "', ignored" + hint);
  }
  return {};
}

}  // namespace slipway::nvidia::config
