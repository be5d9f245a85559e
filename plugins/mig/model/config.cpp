// SPDX-License-Identifier: Apache-2.0
#include "mig/model/config.hpp"

#include <algorithm>

#include <slipway/text.hpp>

namespace slipway::mig {

std::string to_text(const Layout& layout) {
  if (!layout.enabled) return "MIG disabled";
  if (layout.devices.empty()) return "MIG enabled without devices";
  std::vector<std::string> parts;
  for (const auto& [profile, count] : layout.devices) parts.push_back(std::to_string(count) + " x " + profile.text());
  std::ranges::reverse(parts);  // profiles are in the order of their sizes
  return joined(parts, " + ");
}

Json to_json(const Counts& counts) {
  Json json = Json::object();
  for (const auto& [profile, count] : counts) json[profile.text()] = count;
  return json;
}

bool Entry::takes(unsigned index, const DeviceId& id) const {
  if (devices && std::ranges::count(*devices, index) == 0) return false;
  return filter.empty() || std::ranges::any_of(filter, [&id](const DeviceId& each) { return each.takes(id); });
}

Result<Entries> select_config(const Configs& configs, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [each, entries] : configs.by_name) names.push_back(each);
  if (const auto found = configs.by_name.find(name); found != configs.by_name.end()) return found->second;
  constexpr std::size_t kShown = 20;
  const std::string known = names.empty() ? "it has none" : "it has " + first_few(names, kShown);
  if (!name.empty())
    return Error{.code = ErrorCode::not_found,
                 .what = "there is no config '" + name + "'" + did_you_mean(name, names),
                 .where = configs.file,
                 .next = "name one of its configs: " + known};
  if (names.size() == 1) return configs.by_name.begin()->second;
  return Error{.code = ErrorCode::not_found,
               .what = names.empty() ? "it has no config" : "it has several configs, and `config` names none of them",
               .where = configs.file,
               .next = "name the one to use: " + known};
}

const Entry* entry_for(const Entries& entries, unsigned index, const DeviceId& id) {
  const auto last =
      std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& entry) { return entry.takes(index, id); });
  return last == entries.rend() ? nullptr : &*last;
}

}  // namespace slipway::mig
