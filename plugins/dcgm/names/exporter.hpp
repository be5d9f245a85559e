// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/names/exporter.hpp - the content of an exposition besides the sample, and its names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dcgm/events/event_counts.hpp"
#include "dcgm/health/health_status.hpp"
#include "dcgm/pods/attribution.hpp"
#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// The sets of names under which values are printed (names/name_sets.hpp).
struct NameSets {
  bool dcgm = true;
  bool openmetrics = false;
  bool articles = false;
  bool operator==(const NameSets&) const = default;
};

/// Data that the page needs besides the sample.
struct Exporter {
  std::string host_name;             ///< the label Hostname; empty: without it
  bool blanks_in_model_name = true;  ///< false: each run of blanks is replaced by a dash
  std::optional<bool> engine_up;     ///< whether the DCGM engine answers; empty: no engine is configured
  bool released = false;             ///< another program has taken the driver: there is nothing to sample
  AttributionSettings attribution = {};
  Attribution known = {};  ///< the users of each GPU, as the attribution settings ask for
  NameSets names = {};
  std::map<std::string, std::vector<WatchStatus>> health = {};  ///< by the GPU's UUID
  const EventCounts* events = nullptr;                          ///< borrowed; null: nothing was counted
};

/// Formats a whole number without decimals, any other number with six, a text unchanged. Empty: there is no value.
std::string value_text(const Value& value);

}  // namespace slipway::dcgm
