// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/counters/counters.hpp - the exported metrics: dcgm-exporter's file of counters (CSV), read as
// dcgm-exporter reads it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

#include "dcgm/counters/field.hpp"

namespace slipway::dcgm {

struct Counter {
  std::string name;  ///< the metric's or label's name, as the file writes it
  std::string type;  ///< "gauge", "counter", "histogram", "summary"; empty for a label
  std::string help;
  const Field* field = nullptr;
  bool hidden = false;                 ///< read for other metrics; not printed itself
  std::chrono::milliseconds every{0};  ///< read interval; 0: the interval of the service
};

/// A row of a file of counters.
struct CounterRow {
  std::size_t line = 0;  ///< in its file
  std::string name;
  std::string type;
  std::string help;
};

struct Counters {
  std::vector<Counter> series;        ///< by the fields' numbers, as dcgm-exporter prints them
  std::vector<Counter> labels;        ///< by name
  std::vector<Counter> links;         ///< of NVLinks, by the fields' numbers
  std::vector<Counter> processors;    ///< of processors and their cores, likewise
  std::vector<Counter> switches;      ///< of NVSwitches, likewise; with_engine() fills this and the next member
  std::vector<Counter> switch_links;  ///< of their links
  std::vector<Counter> exporter;      ///< metrics of dcgm-exporter itself, without a field, by name
  std::vector<std::string> left_out;  ///< DCGM's names that NVML does not have, or that slipway does not support yet
  std::vector<Counter> foreign;       ///< the left-out names that are fields of DCGM; an engine may have them
  std::vector<std::string> warnings;  ///< a sentence each

  bool wants_exporter(std::string_view name) const;
};

inline constexpr std::string_view kHealthStatus = "DCGM_EXP_GPU_HEALTH_STATUS";

/// True when some counters have their own read interval.
bool has_own_intervals(const Counters& counters);

inline constexpr std::size_t kMostCounterBytes = 1 << 20;
inline constexpr std::size_t kMostCounters = 1024;

/// Reads "FIELD, TYPE, HELP" rows; a `#` at the very beginning of a line makes it a comment.
/// @param where  the file's name, for messages
/// Errors: `invalid` with file:line: a field that DCGM does not have, an unknown type, a row without three parts, a
/// quote in the wrong place, a label with an invalid text; too many rows; no row at all.
Result<Counters> parse_counters(std::string_view text, const std::string& where);

/// Reads rows that come from another file, such as the config file. Errors: those of parse_counters().
Result<Counters> counters_of_rows(const std::vector<CounterRow>& rows, const std::string& where);

/// The rows of dcgm-exporter's own file that are not commented out.
std::string_view default_counters();

}  // namespace slipway::dcgm
