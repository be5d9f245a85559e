// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/counters/config_file.hpp - dcgm-exporter's YAML file (its --config-file): where the counters are, and
// how often single ones are read.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "dcgm/counters/counters.hpp"

namespace slipway::dcgm {

/// Counters that are read at an interval of their own.
struct WatchGroup {
  std::string name;
  std::string place;  ///< in the file, for messages
  std::chrono::milliseconds interval{0};
  std::vector<std::string> patterns;  ///< of names, with * and ?
};

struct ConfigFile {
  std::string counters_file;                          ///< metrics.file; empty: `rows` are the counters
  std::vector<CounterRow> rows;                       ///< metrics.fields
  std::optional<std::chrono::milliseconds> interval;  ///< collection.interval
  std::vector<WatchGroup> groups;
  std::vector<std::string> warnings;  ///< what the file says twice
};

inline constexpr std::size_t kMostConfigBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMostGroups = 64;
inline constexpr std::chrono::milliseconds kShortestInterval{100};
inline constexpr std::chrono::milliseconds kLongestInterval{3600000};

/// @param path  of the file, for messages
/// Errors: `invalid` with file:line:column and the key: no YAML, several documents, another version, a key that is
/// unknown or there twice, intervals that are none or beyond the limits, both sources of metrics or none.
Result<ConfigFile> parse_config_file(const std::string& text, const std::string& path);

/// Errors: `invalid` a pattern that no counter has, or a counter that is in two groups.
Status check_groups(const std::vector<WatchGroup>& groups, const Counters& counters);
/// Gives each counter the interval of its group, and `interval` to those in none; without groups they stay without.
void give_intervals(const std::vector<WatchGroup>& groups, std::chrono::milliseconds interval, Counters& counters);

/// The intervals at which something is read. @param interval  of all counters without one of their own
std::vector<std::chrono::milliseconds> intervals_of(const Counters& counters, std::chrono::milliseconds interval);

}  // namespace slipway::dcgm
