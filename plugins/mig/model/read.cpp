// SPDX-License-Identifier: Apache-2.0
// plugins/mig/model/read.cpp - the rules of nvidia-mig-parted's config files; an error names the place that breaks one.
#include <charconv>

#include <slipway/text.hpp>

#include "mig/model/config.hpp"

namespace slipway::mig {
namespace {

using nvidia::config::Node;

constexpr unsigned kMostDevices = 1000;

/// Returns the member of exactly that name; null if not found.
const Node* member(const Node& map, std::string_view name) {
  for (std::size_t i = 0; i < map.keys.size(); ++i)
    if (map.keys[i] == name) return &map.items[i];
  return nullptr;
}

Status expect_keys(const Node& map, const std::vector<std::string>& known) {
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    const std::string& key = map.keys[i];
    if (std::find(known.begin(), known.end(), key) == known.end())
      return map.items[i].wrong_key("unexpected field '" + key + "'",
                                    suggestion(key, known, "the fields are " + joined(known)));
  }
  return {};
}

std::optional<unsigned> parse_count(const Node& node) {
  unsigned value = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto [stop, problem] = std::from_chars(node.text.data(), end, value);
  const bool is_octal = node.text.size() > 1 && node.text.front() == '0';  // octal for upstream, but hardly meant so by
                                                                           // the author
  const bool is_number = node.is_scalar() && !node.quoted && !is_octal && problem == std::errc{} && stop == end;
  return is_number && value <= kMostDevices ? std::optional(value) : std::nullopt;
}

Status take_filter(const Node& node, Entry& entry) {
  if (node.is_null()) return {};
  if (!node.is_scalar() && !node.is_list())
    return node.wrong("a device filter is a string or a list of strings", "write [\"0x233010DE\"]");
  const std::vector<Node> one{node};
  for (const Node& each : node.is_list() ? node.items : one) {
    SLIPWAY_TRY(text, each.string());
    if (text.empty() && !node.is_list()) return {};  // matches everything
    SLIPWAY_TRY(id, parse_device_id(text, each.where));
    entry.filter.push_back(id);
  }
  return {};
}

Status take_devices(const Node& node, Entry& entry) {
  if (node.is_scalar() && node.text == "all") return {};
  if (!node.is_list()) return node.wrong("devices is `all` or a list of GPUs", "write all, or [0, 1]");
  entry.devices.emplace();
  for (const Node& item : node.items) {
    const auto index = parse_count(item);
    if (!index) return item.wrong("'" + item.text + "' is not the number of a GPU", "number the GPUs from 0: [0, 1]");
    entry.devices->push_back(*index);
  }
  return {};
}

/// Reads a boolean as upstream's YAML library does; a quoted value is a string.
std::optional<bool> parse_bool(const Node& node) {
  if (!node.is_scalar() || node.quoted) return std::nullopt;
  for (const char* word : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"})
    if (node.text == word) return true;
  for (const char* word : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"})
    if (node.text == word) return false;
  return std::nullopt;
}

Status take_enabled(const Node& node, Entry& entry) {
  const auto enabled = parse_bool(node);
  if (!enabled) return node.wrong("mig-enabled is true or false", "write true or false");
  entry.layout.enabled = *enabled;
  return {};
}

Status take_layout(const Node& node, Entry& entry) {
  if (node.is_null()) return {};
  if (!node.is_map()) return node.wrong("mig-devices is a map of profiles to counts", "write {1g.10gb: 2, 3g.40gb: 1}");
  bool has_one = node.items.empty();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    SLIPWAY_TRY(profile, parse_profile(node.keys[i], node.items[i].where));
    const auto count = parse_count(node.items[i]);
    if (!count)
      return node.items[i].wrong("the count of " + node.keys[i] + " is '" + node.items[i].text + "'",
                                 node.items[i].quoted ? "write it without quotes: a whole number of at least 0"
                                                      : "write the number of devices: a whole number of at least 0");
    // Two names of one profile ("1c.1g.5gb" and "1g.5gb") add up.
    if (*count != 0) entry.layout.devices[profile] += *count;
    has_one = has_one || *count != 0;
  }
  if (!has_one) return node.wrong("every count is 0", "write {} for no devices at all");
  return {};
}

Result<Entry> read_entry(const Node& node) {
  if (!node.is_map()) return node.wrong("an entry is a map", "write `devices:` and `mig-enabled:` in it");
  SLIPWAY_CHECK(expect_keys(node, {"device-filter", "devices", "mig-enabled", "mig-devices"}));
  Entry entry;
  entry.where = node.where;
  const Node* const devices = member(node, "devices");
  const Node* const enabled = member(node, "mig-enabled");
  const Node* const layout = member(node, "mig-devices");
  for (const auto& [name, found] : {std::pair("devices", devices), std::pair("mig-enabled", enabled)})
    if (found == nullptr)
      return node.wrong(std::string("missing required field '") + name + "'", "add it to this entry");
  if (const Node* const filter = member(node, "device-filter")) SLIPWAY_CHECK(take_filter(*filter, entry));
  SLIPWAY_CHECK(take_devices(*devices, entry));
  SLIPWAY_CHECK(take_enabled(*enabled, entry));
  if (entry.layout.enabled && layout == nullptr)
    return node.wrong("missing required field 'mig-devices' when 'mig-enabled' is true", "write {} for no devices");
  if (layout != nullptr) SLIPWAY_CHECK(take_layout(*layout, entry));
  if (!entry.layout.enabled && layout != nullptr && !layout->items.empty())
    return layout->wrong("MIG devices included when 'mig-enabled' is false", "enable MIG, or leave the devices out");
  return entry;
}

Result<Entries> read_entries(const std::string& name, const Node& node) {
  if (node.is_map())
    return node.wrong("the config '" + name + "' is a map, and has to be a list of entries",
                      "write a '-' before its entry: [{devices: all, mig-enabled: false}]");
  if (!node.is_list() || node.items.empty())
    return node.wrong("the config '" + name + "' has no entry: at least one is required",
                      "write a list, such as [{devices: all, mig-enabled: false}]");
  Entries entries;
  for (const Node& item : node.items) {
    SLIPWAY_TRY(entry, read_entry(item));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Status check_version(const Node& file) {
  const Node* const version = member(file, "version");
  if (version == nullptr && !file.keys.empty())
    return file.wrong("the field 'version' is missing", "write `version: v1` at the top of the file");
  const std::string text = version == nullptr ? "" : version->text;
  if (text == "v1") return {};
  return (version == nullptr ? file : *version).wrong("unknown version: '" + text + "'", "write `version: v1`");
}

}  // namespace

Result<Configs> read_configs(const Node& file) {
  if (!file.is_null() && !file.is_map())
    return file.wrong("the file has no MIG configs", "write `version: v1` and `mig-configs:`");
  SLIPWAY_CHECK(check_version(file));
  SLIPWAY_CHECK(expect_keys(file, {"version", "mig-configs"}));
  Configs configs;
  configs.file = file.where;
  const Node* const named = member(file, "mig-configs");
  if (named == nullptr) return configs;
  if (!named->is_map() || named->items.empty())
    return named->wrong("mig-configs has no config: at least one is required", "write a name and its entries");
  for (std::size_t i = 0; i < named->items.size(); ++i) {
    SLIPWAY_TRY(entries, read_entries(named->keys[i], named->items[i]));
    configs.by_name.emplace(named->keys[i], std::move(entries));
  }
  return configs;
}

Result<Configs> configs_from_yaml(const std::string& text, const std::string& file) {
  SLIPWAY_TRY(config, nvidia::config::only_config(text, file));
  SLIPWAY_TRY(configs, read_configs(config.node));
  configs.file = file;
  configs.warnings = std::move(config.warnings);
  return std::move(configs);
}

}  // namespace slipway::mig
