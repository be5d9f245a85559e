// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/duration.hpp - lengths of time as Go writes them, which the files and options of NVIDIA's tools have.
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
/// ns, us (or µs), ms, s, m and h are the units. A sign, a blank and an amount without a unit are refused, "0" among
/// them, which Go takes. What is longer than kLongestDuration becomes that; a single amount of so many units is
/// refused.
///
/// @return  nothing when the text is no such length; the caller knows where the text stands, and makes the error
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// "1m30s": the shortest text that parse_duration() reads as this length, to the millisecond.
std::string duration_text(std::chrono::milliseconds length);

}  // namespace slipway::nvidia
