// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/names/exporter.hpp - what an exposition says beside the sample, and under which names.
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

/// Under which names values are told (names/name_sets.hpp).
struct NameSets {
  bool dcgm = true;
  bool openmetrics = false;
  bool articles = false;
  bool operator==(const NameSets&) const = default;
};

/// What stands beside the sample.
struct Exporter {
  std::string host_name;             ///< the label Hostname; empty: without it
  bool blanks_in_model_name = true;  ///< else each run of them is a dash
  std::optional<bool> engine_up;     ///< whether the DCGM engine answers; nothing: there is to be none
  bool released = false;             ///< another program has the driver: there is nothing to sample
  AttributionSettings attribution = {};
  Attribution known = {};  ///< who uses what, by the attribution's settings
  NameSets names = {};
  std::map<std::string, std::vector<WatchStatus>> health = {};  ///< by the GPU's UUID
  const EventCounts* events = nullptr;                          ///< borrowed; null: nothing was counted
};

/// A whole number as it is, another one with six decimals; a text as it is. Empty: there is no value.
std::string value_text(const Value& value);

}  // namespace slipway::dcgm
