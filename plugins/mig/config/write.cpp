// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <slipway/text.hpp>

#include "mig/config/named_configs.hpp"

namespace slipway::mig {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The machine's GPUs by the id of their chip.
using Chips = std::map<std::uint32_t, std::vector<unsigned>>;

void add_filter(Entry& entry, const DeviceId& id) {
  if (std::ranges::count(entry.filter, id) == 0) entry.filter.push_back(id);
  std::ranges::sort(entry.filter);
}

/// True when the filter accepts exactly the listed devices, so `all` means the same.
bool takes_all(const Entry& entry, const Chips& chips) {
  std::size_t count = 0;
  for (const DeviceId& id : entry.filter) count += chips.at(id.chip).size();
  return entry.devices && entry.devices->size() == count;
}

std::string scalar(const std::string& text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  });
  const bool begins_well = is_plain && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  static const std::set<std::string> kWords{"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (begins_well && !kWords.contains(lower)) return text;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Digits {
  std::uint64_t value = 0;
  std::size_t end = 0;
};

/// Returns the number at that position. @param before  true when a digit other than 0 precedes it
Digits digits_at(std::string_view text, std::size_t at, bool before) {
  Digits digits{before ? 1U : 0U, at};
  for (; digits.end < text.size() && is_digit(text[digits.end]); ++digits.end)
    digits.value = digits.value * 10 + static_cast<std::uint64_t>(text[digits.end] - '0');
  return digits;
}

bool ends_with_a_number(std::string_view text) {
  while (!text.empty() && text.back() == '0') text.remove_suffix(1);
  return !text.empty() && is_digit(text.back());
}

/// Compares keys in the order of Go's YAML: numbers count as numbers, so that all-1g.5gb comes before all-1g.10gb;
/// behind a digit letters come first, elsewhere last.
bool is_before(std::string_view one, std::string_view other) {
  const auto [at, at_other] = std::ranges::mismatch(one, other);
  const auto i = static_cast<std::size_t>(at - one.begin());
  if (at == one.end() || at_other == other.end()) return one.size() < other.size();
  if (is_letter(*at) && is_letter(*at_other)) return *at < *at_other;
  if (is_letter(*at) || is_letter(*at_other))
    return i > 0 && is_digit(one[i - 1]) ? is_letter(*at) : is_letter(*at_other);
  const bool before = (*at == '0' || *at_other == '0') && ends_with_a_number(one.substr(0, i));
  const Digits left = digits_at(one, i, before);
  const Digits right = digits_at(other, i, before);
  if (left.value != right.value) return left.value < right.value;
  return left.end != right.end ? left.end < right.end : *at < *at_other;
}

/// Returns the devices as lines of YAML.
std::vector<std::pair<std::string, unsigned>> in_yaml_order(const Counts& devices) {
  std::vector<std::pair<std::string, unsigned>> all;
  for (const auto& [profile, count] : devices) all.emplace_back(profile.text(), count);
  std::ranges::sort(all, is_before, &std::pair<std::string, unsigned>::first);
  return all;
}

void add_entry(const Entry& entry, std::string& yaml) {
  std::string start = "  - ";
  const auto line = [&](const std::string& text) {
    yaml += start + text + "\n";
    start = "    ";
  };
  const auto ids = [](const DeviceId& id) { return '"' + id.text() + '"'; };
  if (entry.filter.size() == 1) line("device-filter: " + ids(entry.filter.front()));
  if (entry.filter.size() > 1) line("device-filter: [" + joined(entry.filter, ", ", ids) + "]");
  line(entry.devices ? "devices: [" + joined(*entry.devices, ", ", [](unsigned i) { return std::to_string(i); }) + "]"
                     : std::string("devices: all"));
  line(std::string("mig-enabled: ") + (entry.layout.enabled ? "true" : "false"));
  if (entry.layout.devices.empty()) return line("mig-devices: {}");
  line("mig-devices:");
  for (const auto& [profile, count] : in_yaml_order(entry.layout.devices))
    line("  " + profile + ": " + std::to_string(count));
}

OrderedJson entry_json(const Entry& entry, NoDevices none) {
  OrderedJson json;
  std::vector<std::string> filter;
  for (const DeviceId& id : entry.filter) filter.push_back(id.text());
  if (filter.size() == 1) json["device-filter"] = filter.front();
  if (filter.size() > 1) json["device-filter"] = filter;
  if (entry.devices)
    json["devices"] = *entry.devices;
  else
    json["devices"] = "all";
  json["mig-enabled"] = entry.layout.enabled;
  std::map<std::string, unsigned> devices;
  for (const auto& [profile, count] : entry.layout.devices) devices[profile.text()] = count;
  if (entry.layout.enabled || none == NoDevices::object)
    json["mig-devices"] = devices;
  else
    json["mig-devices"] = nullptr;
  return json;
}

}  // namespace

Entries present_entries(const std::vector<Gpu>& gpus) {
  Chips chips;
  Entries entries;
  bool any_lost = false;
  for (const Gpu& gpu : gpus) {
    any_lost = any_lost || gpu.lost;
    if (gpu.lost) continue;
    chips[gpu.id.chip].push_back(gpu.index);
    const Layout layout = layout_of(gpu);
    auto entry = std::ranges::find(entries, layout, &Entry::layout);
    if (entry == entries.end())
      entry = entries.insert(entries.end(),
                             Entry{.where = {}, .filter = {}, .devices = std::vector<unsigned>(), .layout = layout});
    entry->devices->push_back(gpu.index);
    add_filter(*entry, {.chip = gpu.id.chip, .board = {}});
  }
  for (Entry& entry : entries) {
    if (!any_lost && takes_all(entry, chips)) entry.devices.reset();
    if (chips.size() == 1 || entries.size() == 1) entry.filter.clear();
  }
  return entries;
}

std::string to_yaml(const std::map<std::string, Entries>& configs) {
  std::vector<std::string> names;
  for (const auto& [name, entries] : configs) names.push_back(name);
  std::ranges::sort(names, is_before);
  std::string yaml = "version: v1\nmig-configs:\n";
  for (const std::string& name : names) {
    yaml += "  " + scalar(name) + ":\n";
    for (const Entry& entry : configs.at(name)) add_entry(entry, yaml);
  }
  return yaml;
}

std::string to_json_text(const std::map<std::string, Entries>& configs, NoDevices none) {
  OrderedJson json;
  json["version"] = "v1";
  json["mig-configs"] = OrderedJson::object();
  for (const auto& [name, entries] : configs) {
    OrderedJson list = OrderedJson::array();
    for (const Entry& entry : entries) list.push_back(entry_json(entry, none));
    json["mig-configs"][name] = std::move(list);
  }
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace slipway::mig
