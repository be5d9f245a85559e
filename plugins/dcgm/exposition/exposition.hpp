// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/exposition/exposition.hpp - a sample in Prometheus' text format, as dcgm-exporter prints it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dcgm/counters/counters.hpp"
#include "dcgm/names/exporter.hpp"
#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// Prints the families by field number, the series of a family by GPU and instance; then the exporter's own metrics,
/// `slipway_dcgm_…`, which show what is missing.
std::string exposition_text(const Sample& sample, const Counters& counters, const Exporter& exporter);

/// Returns dcgm-exporter's text for an XID.
std::string_view xid_text(std::uint64_t number);

}  // namespace slipway::dcgm
