// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/counters/config_file.hpp - dcgm-exporter's YAML file (its --config-file): the place of the counters, and
// the intervals of single counters.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "dcgm/counters/counters.hpp"

namespace slipway::dcgm {

/// Counters that have their own read interval.
struct WatchGroup {
  std::string name;
  std::string place;  ///< position in the file, for messages
  std::chrono::milliseconds interval{0};
  std::vector<std::string> patterns;  ///< patterns of counter names, with * and ?
};

struct ConfigFile {
  std::string counters_file;                          ///< metrics.file; empty: `rows` are the counters
  std::vector<CounterRow> rows;                       ///< metrics.fields
  std::optional<std::chrono::milliseconds> interval;  ///< collection.interval
  std::vector<WatchGroup> groups;
  std::vector<std::string> warnings;  ///< keys and values that the file repeats
};

inline constexpr std::size_t kMostConfigBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMostGroups = 64;
inline constexpr std::chrono::milliseconds kShortestInterval{100};
inline constexpr std::chrono::milliseconds kLongestInterval{3600000};

/// @param path  of the file, for messages
/// Errors: `invalid` with file:line:column and the key: invalid YAML, several documents, an unsupported version, an
/// unknown or repeated key, an invalid interval or one beyond the limits, both sources of metrics or neither.
Result<ConfigFile> parse_config_file(const std::string& text, const std::string& path);

/// Errors: `invalid` a pattern that matches no counter, or a counter in two groups.
Status check_groups(const std::vector<WatchGroup>& groups, const Counters& counters);
/// Gives each counter the interval of its group, and `interval` to counters outside all groups. Without groups nothing
/// changes.
void give_intervals(const std::vector<WatchGroup>& groups, std::chrono::milliseconds interval, Counters& counters);

/// Returns the distinct read intervals. @param interval  for counters without their own interval
std::vector<std::chrono::milliseconds> intervals_of(const Counters& counters, std::chrono::milliseconds interval);

}  // namespace slipway::dcgm
