// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/names/name_sets.hpp - the same values under other names than dcgm-exporter's: Prometheus' conventions
// for names, and the names in articles about GPU monitoring.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/service/metrics.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/names/exporter.hpp"

namespace slipway::dcgm {

/// "dcgm", "openmetrics" and "articles". Errors: `invalid` an unknown word, or an empty list.
Result<NameSets> parse_name_sets(const std::vector<std::string>& words, const std::string& where);

/// Adds to the counters the fields that the sets need, as hidden counters. Without the set "dcgm" only those remain.
Counters with_fields_of(const NameSets& sets, Counters counters);

/// Adds one family per unit and quantity, with base units in the names and counters that end in `_total`:
/// nvidia_gpu_power_watts. A family that the articles also have is left to them, so that no name is repeated.
void add_conventional(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter);
/// Adds one series for each GPU, with the labels gpu, pod, node and uuid: nvidia_gpu_utilization.
void add_articles(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter);

/// Return the fields that the set reads, by DCGM's number or from kOwnFields on.
std::vector<unsigned> conventional_fields();
std::vector<unsigned> article_fields();

/// Converts a page from Prometheus' format to OpenMetrics' text format 1.0. Counters lose `_total` in their HELP and
/// TYPE; counters without that ending, as many of dcgm-exporter's, become type unknown, and so do types that
/// OpenMetrics writes in another form. slipway's own metrics get a UNIT line.
std::string openmetrics_text(std::string_view page);

}  // namespace slipway::dcgm
