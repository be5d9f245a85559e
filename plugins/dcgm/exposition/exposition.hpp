// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/exposition/exposition.hpp - a sample in Prometheus' text format, as dcgm-exporter prints it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcgm/counters/counters.hpp"
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

/// The families by the fields' numbers, the series of a family by GPU and instance; then the exporter's own metrics,
/// `slipway_dcgm_…`, which tell what is missing.
std::string exposition_text(const Sample& sample, const Counters& counters, const Exporter& exporter);

/// A whole number as it is, another one with six decimals; a text as it is. Empty: there is no value.
std::string value_text(const Value& value);

/// What dcgm-exporter calls an XID.
std::string_view xid_text(std::uint64_t number);

}  // namespace slipway::dcgm
