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

/// The families by the fields' numbers, the series of a family by GPU and instance; then the exporter's own metrics,
/// `slipway_dcgm_…`, which tell what is missing.
std::string exposition_text(const Sample& sample, const Counters& counters, const Exporter& exporter);

/// What dcgm-exporter calls an XID.
std::string_view xid_text(std::uint64_t number);

}  // namespace slipway::dcgm
