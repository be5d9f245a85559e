// SPDX-License-Identifier: Apache-2.0
// core/engine/stop.hpp - SIGINT, SIGTERM and SIGHUP: the first signal makes the engine finish the action and undo; the
// second one, or a deadline, ends the process.
#pragma once

#include <atomic>
#include <chrono>

#include <slipway/result.hpp>

namespace slipway::core {

/// The time limit, a little shorter than the 90 seconds after which systemd kills.
inline constexpr std::chrono::seconds kStopLimit{80};

/// Installs the handlers; a signal that is ignored (nohup) stays ignored. A second signal, or `limit` after the first,
/// ends the process at once with 128 + the signal's number; the next run recovers from the journal. A signal that a
/// closing terminal or timeout(1) sends twice counts as one. When the reader of standard error goes away, the process
/// continues.
void watch_stop_signals(std::chrono::seconds limit = kStopLimit);

/// Fails after a stop signal. Errors: `cancelled`, for SLIPWAY_CHECK between two actions.
Status check_not_stopped();
/// Becomes true at that signal, for waits within an action.
const std::atomic<bool>& stop_flag();

}  // namespace slipway::core
