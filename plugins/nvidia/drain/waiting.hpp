// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/waiting.hpp - the time since which a change waits, from apply to apply.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia::drain {

struct Waiting {
  std::chrono::seconds begun{};  ///< since the boot, in CLOCK_BOOTTIME
  std::string since;             ///< "2026-11-26 09:12 UTC"
};

/// The clock of Waiting::begun: it continues while the machine sleeps, and cannot be set.
std::chrono::seconds now_since_boot();

/// Reads /run/slipway/drain/NAME.json of that change; empty: it does not wait.
std::optional<Waiting> read_waiting(const Host& host, const std::string& name, const std::string& change);
/// Reads that file, or starts the wait now if the file has another target. Errors: those of writing.
Result<Waiting> begin_waiting(const Host& host, const std::string& name, const std::string& change);
void end_waiting(const Host& host, const std::string& name);

}  // namespace slipway::nvidia::drain
