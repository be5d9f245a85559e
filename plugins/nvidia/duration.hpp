// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/duration.hpp - durations in Go's format, as in the files and options of NVIDIA's tools.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::nvidia {

/// About 31 years.
inline constexpr std::chrono::nanoseconds kLongestDuration{1'000'000'000'000'000'000};

/// Reads "90s", "1m30s", "1.5h" or "100ms": one or more amounts, each with its unit.
///
/// The units are ns, us (or µs), ms, s, m and h. A sign, a blank and an amount without a unit are rejected, also "0",
/// which Go accepts. A duration longer than kLongestDuration is reduced to it; a single amount of that many units is
/// rejected.
///
/// @return  empty when the text is not a duration; the caller knows its place, and creates the error
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Returns "1m30s": the shortest text that parse_duration() reads as this duration, to the millisecond.
std::string duration_text(std::chrono::milliseconds length);

}  // namespace slipway::nvidia
