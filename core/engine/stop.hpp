// SPDX-License-Identifier: Apache-2.0
// core/engine/stop.hpp - SIGINT, SIGTERM and SIGHUP: the first asks the engine to finish the action and undo, the
// second or a deadline ends it.
#pragma once

#include <atomic>
#include <chrono>

#include <slipway/result.hpp>

namespace slipway::core {

/// What is left of the 90 seconds after which systemd kills.
inline constexpr std::chrono::seconds kStopLimit{80};

/// Installs the handlers; a signal that is ignored (nohup) stays so. A second signal, or `limit` after the first, ends
/// the process at once with 128 + the signal's number; the journal recovers. What a terminal that closes or timeout(1)
/// sends twice is one signal. A reader of standard error that goes away
/// ends nothing.
void watch_stop_signals(std::chrono::seconds limit = kStopLimit);

/// A signal came. Errors: `cancelled`, for SLIPWAY_CHECK between two actions.
Status stop_requested();
/// Becomes true at that signal; for what is waited for within an action.
const std::atomic<bool>& stop_flag();

}  // namespace slipway::core
