// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/waiting.hpp - since when a change waits, from apply to apply.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia::drain {

struct Waiting {
  std::chrono::seconds begun{};  ///< since the boot, as CLOCK_BOOTTIME counts
  std::string since;             ///< "2026-11-26 09:12 UTC"
};

/// The clock that Waiting::begun is read from: it goes on while the machine sleeps, and nobody sets it.
std::chrono::seconds now_since_boot();

/// What /run/slipway/drain/NAME.json says of that change; nothing: it does not wait.
std::optional<Waiting> read_waiting(const Host& host, const std::string& name, const std::string& change);
/// The same; it is begun there, now, when that says something else.
/// Errors: those of writing.
Result<Waiting> begin_waiting(const Host& host, const std::string& name, const std::string& change);
void end_waiting(const Host& host, const std::string& name);

}  // namespace slipway::nvidia::drain
