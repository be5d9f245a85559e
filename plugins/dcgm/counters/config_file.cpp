// SPDX-License-Identifier: Apache-2.0
#include "dcgm/counters/config_file.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fnmatch.h>

#include "nvidia/config/config_map.hpp"
#include "nvidia/config/strict_keys.hpp"
#include "nvidia/duration.hpp"

namespace slipway::dcgm {
namespace {

using nvidia::config::Node;
using nvidia::config::StrictKey;
using nvidia::config::take_strictly;

Status take_words(const Node& node, std::string& text) {
  SLIPWAY_TRY(read, node.string());
  if (read.empty() || read.find_first_of("\n\r") != std::string::npos)
    return node.wrong("expected a string of one line", "write it in one line");
  text = std::move(read);
  return {};
}

Status take_file(const Node& node, std::string& path) {
  SLIPWAY_CHECK(take_words(node, path));
  return path.starts_with('/') ? Status()
                               : Status(node.wrong("'" + path + "' is not an absolute path", "begin it with /"));
}

Status take_interval(const Node& node, std::chrono::milliseconds& interval) {
  const auto length = node.is_scalar() ? nvidia::parse_duration(node.text) : std::nullopt;
  const std::string next = "write it like 500ms, 5s or 5m; at least 100ms, at most 1h, whole milliseconds";
  if (!length) return node.wrong("'" + node.text + "' is not an interval", next);
  const std::chrono::nanoseconds exact = length.value_or(std::chrono::nanoseconds(0));
  interval = std::chrono::duration_cast<std::chrono::milliseconds>(exact);
  if (exact % std::chrono::milliseconds(1) != std::chrono::nanoseconds(0))
    return node.wrong("an interval of " + node.text + " is not a whole number of milliseconds", next);
  if (interval < kShortestInterval) return node.wrong("an interval of " + node.text + " is too short", next);
  if (interval > kLongestInterval) return node.wrong("an interval of " + node.text + " is too long", next);
  return {};
}

/// "config.yaml:12:5" -> 12.
std::size_t line_of(const Node& node) {
  const std::size_t column = node.where.rfind(':');
  const std::size_t begin = column == std::string::npos ? 0 : node.where.rfind(':', column - 1) + 1;
  std::size_t line = 0;
  std::from_chars(node.where.data() + begin, node.where.data() + node.where.size(), line);
  return line;
}

Status take_rows(const Node& list, std::vector<CounterRow>& rows) {
  static const std::vector<StrictKey<CounterRow>> keys{
      {"name", [](const Node& n, CounterRow& r) { return take_words(n, r.name); }},
      {"prometheusType", [](const Node& n, CounterRow& r) { return take_words(n, r.type); }},
      {"help", [](const Node& n, CounterRow& r) { return take_words(n, r.help); }}};
  if (!list.is_list())
    return list.wrong("a list is expected", "write - {name: DCGM_FI_DEV_GPU_TEMP, prometheusType: gauge, help: …}");
  for (const Node& item : list.items) {
    CounterRow& row = rows.emplace_back(CounterRow{.line = line_of(item)});
    SLIPWAY_CHECK(take_strictly(item, "metrics.fields", keys, row));
    if (row.name.empty() || row.type.empty())
      return item.wrong("metrics.fields: a field needs name and prometheusType",
                        "write {name: DCGM_FI_DEV_GPU_TEMP, prometheusType: gauge, help: Temperature}");
  }
  return {};
}

Status take_group(const Node& node, WatchGroup& group) {
  static const std::vector<StrictKey<WatchGroup>> keys{
      {"name", [](const Node& n, WatchGroup& g) { return take_words(n, g.name); }},
      {"interval", [](const Node& n, WatchGroup& g) { return take_interval(n, g.interval); }},
      {"fields", [](const Node& n, WatchGroup& g) -> Status {
         SLIPWAY_TRY(patterns, n.strings());
         g.patterns = std::move(patterns);
         return {};
       }}};
  group.place = node.where;
  SLIPWAY_CHECK(take_strictly(node, "collection.watchGroups", keys, group));
  if (group.patterns.size() > kMostCounters)
    return node.wrong("collection.watchGroups: a group has more than " + std::to_string(kMostCounters) + " fields",
                      "write patterns such as DCGM_FI_PROF_*");
  if (group.name.empty() || group.interval.count() == 0 || group.patterns.empty())
    return node.wrong("collection.watchGroups: a group needs name, interval and fields",
                      "write {name: fast, interval: 1s, fields: [DCGM_FI_DEV_GPU_TEMP]}");
  return {};
}

Status take_groups(const Node& list, std::vector<WatchGroup>& groups) {
  if (!list.is_list()) return list.wrong("a list is expected", "write - {name: fast, interval: 1s, fields: [DCGM_…]}");
  if (list.items.size() > kMostGroups)
    return list.wrong("there are more than " + std::to_string(kMostGroups) + " groups", "leave some out");
  std::set<std::string> names;
  for (const Node& item : list.items) {
    SLIPWAY_CHECK(take_group(item, groups.emplace_back()));
    if (!names.insert(groups.back().name).second)
      return item.wrong("there are two groups '" + groups.back().name + "'", "give one of them another name");
  }
  return {};
}

const std::vector<StrictKey<ConfigFile>>& file_keys() {
  static const std::vector<StrictKey<ConfigFile>> metrics{
      {"file", [](const Node& n, ConfigFile& f) { return take_file(n, f.counters_file); }},
      {"fields", [](const Node& n, ConfigFile& f) { return take_rows(n, f.rows); }}};
  static const std::vector<StrictKey<ConfigFile>> collection{
      {"interval", [](const Node& n, ConfigFile& f) { return take_interval(n, f.interval.emplace()); }},
      {"watchGroups", [](const Node& n, ConfigFile& f) { return take_groups(n, f.groups); }}};
  static const std::vector<StrictKey<ConfigFile>> keys{
      {"version",
       [](const Node& n, ConfigFile&) {
         return n.text == "1" ? Status()
                              : Status(n.wrong("slipway does not read version '" + n.text + "' of this file",
                                               "write it in version 1: metrics, and one collection"));
       }},
      {"metrics", [](const Node& n, ConfigFile& f) { return take_strictly(n, "metrics", metrics, f); }},
      {"collection", [](const Node& n, ConfigFile& f) { return take_strictly(n, "collection", collection, f); }}};
  return keys;
}

bool has_name(const std::string& pattern, const Counter& counter) {
  return ::fnmatch(pattern.c_str(), counter.name.c_str(), 0) == 0;
}

/// Returns all counters that can be in a group. Counters that only DCGM's engine has keep the engine's interval.
std::vector<const Counter*> members(const Counters& counters) {
  std::vector<const Counter*> all;
  for (const auto* const list : {&counters.series, &counters.labels, &counters.links, &counters.foreign})
    for (const Counter& counter : *list)
      if (!counter.hidden) all.push_back(&counter);
  return all;
}

/// True for counters that are always read at the service's interval: processors, and the exporter's own metrics.
bool is_without_interval(const std::string& pattern, const Counters& counters) {
  const auto is_named = [&](const Counter& counter) { return has_name(pattern, counter); };
  return std::ranges::any_of(counters.processors, is_named) || std::ranges::any_of(counters.exporter, is_named);
}

}  // namespace

Result<ConfigFile> parse_config_file(const std::string& text, const std::string& path) {
  SLIPWAY_TRY(config, nvidia::config::only_config(text, path));
  const Node& root = config.node;
  ConfigFile file;
  file.warnings = config.warnings;
  SLIPWAY_CHECK(take_strictly(root, "", file_keys(), file));
  if (root.at("version").is_null()) return root.wrong("the file has no version", "add version: 1");
  if (file.counters_file.empty() == file.rows.empty())
    return root.wrong("metrics needs either file or fields",
                      "write metrics: {file: /etc/dcgm-exporter/default-counters.csv}");
  return file;
}

Status check_groups(const std::vector<WatchGroup>& groups, const Counters& counters) {
  const auto wrong = [](const WatchGroup& group, const std::string& what, const std::string& next) {
    return Error{.code = ErrorCode::invalid,
                 .what = "watch group '" + group.name + "': " + what,
                 .where = group.place,
                 .next = next};
  };
  std::map<const Counter*, const WatchGroup*> taken;
  for (const WatchGroup& group : groups)
    for (const std::string& pattern : group.patterns) {
      bool any = is_without_interval(pattern, counters);
      for (const Counter* const counter : members(counters)) {
        if (!has_name(pattern, *counter)) continue;
        any = true;
        const auto [before, is_new] = taken.emplace(counter, &group);
        if (!is_new && before->second != &group)
          return wrong(group, counter->name + " is in the group '" + before->second->name + "' already",
                       "remove the counter from one of the two groups");
      }
      if (!any)
        return wrong(group, "no counter is called '" + pattern + "'",
                     "write the name of a field that the file of counters lists");
    }
  return {};
}

void give_intervals(const std::vector<WatchGroup>& groups, std::chrono::milliseconds interval, Counters& counters) {
  if (groups.empty()) return;
  for (const WatchGroup& group : groups)
    for (const std::string& pattern : group.patterns)
      if (is_without_interval(pattern, counters))
        counters.warnings.push_back("the interval of the group '" + group.name + "' does not apply to " + pattern +
                                    " where that names processors or the exporter's own metrics: those are read at the "
                                    "interval of the service");
  // A pattern does not match hidden counters, unless all counters are hidden (`names` without dcgm).
  const bool any_shown = !members(counters).empty();
  for (auto* const list : {&counters.series, &counters.labels, &counters.links})
    for (Counter& counter : *list) {
      counter.every = interval;
      for (const WatchGroup& group : groups)
        for (const std::string& pattern : group.patterns)
          if ((!counter.hidden || !any_shown) && has_name(pattern, counter)) counter.every = group.interval;
    }
}

std::vector<std::chrono::milliseconds> intervals_of(const Counters& counters, std::chrono::milliseconds interval) {
  std::set<std::chrono::milliseconds> all{interval};
  for (const auto* const list : {&counters.series, &counters.labels, &counters.links})
    for (const Counter& counter : *list)
      if (counter.every.count() != 0) all.insert(counter.every);
  return {all.begin(), all.end()};
}

}  // namespace slipway::dcgm
