// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/names/name_sets.hpp - the same values under other names than those of dcgm-exporter: Prometheus' own
// conventions for names, and the names that articles about GPU monitoring use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/service/metrics.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/names/exporter.hpp"

namespace slipway::dcgm {

/// "dcgm", "openmetrics" and "articles". Errors: `invalid` another word, or none at all.
Result<NameSets> parse_name_sets(const std::vector<std::string>& words, const std::string& where);

/// The counters with what the sets need besides them, which has no metric of dcgm-exporter. Without the set "dcgm"
/// nothing else is left of them.
Counters with_fields_of(const NameSets& sets, Counters counters);

/// One family for each unit and thing, base units in the names, counters that end in `_total`: nvidia_gpu_power_watts.
/// Families that the articles have as well are theirs, so that no name comes twice.
void add_conventional(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter);
/// One series of each GPU, with the labels gpu, pod, node and uuid: nvidia_gpu_utilization.
void add_articles(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter);

/// Fields by DCGM's numbers, or those of kOwnFields on, that the set reads.
std::vector<unsigned> conventional_fields();
std::vector<unsigned> article_fields();

/// A page in Prometheus' format, in OpenMetrics' text format 1.0. Counters lose `_total` in their HELP and TYPE; those
/// that do not end in it, as many names of dcgm-exporter, are of type unknown, and so are the types that OpenMetrics
/// has another form for. Metrics of ours have their unit.
std::string openmetrics_text(std::string_view page);

}  // namespace slipway::dcgm
