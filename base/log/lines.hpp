// SPDX-License-Identifier: Apache-2.0
// base/log/lines.hpp - an event of the log as text: for people, for programs, and for systemd when its journal is not
// there.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/log/event.hpp"

namespace slipway::core {

/// The text with control characters and bytes that are no UTF-8 as escapes (\n, \x1b), so that it is one line and moves
/// no cursor. With `lines`, its line ends and tabs stay.
std::string printable(std::string_view text, bool lines = false);

/// "mig: warning: what happened", without a line end. An error is its block.
std::string text_line(const LogEvent& event);

/// Where a text_line() says the level ("warning:", "error:"), for its colour; empty: nowhere.
std::string_view level_mark(LogLevel level);

/// One JSON object in ASCII, without a line end (docs/user-guide.md, "Log on standard error").
std::string json_line(const LogEvent& event, std::chrono::system_clock::time_point time);

/// syslog(3)'s number of the level.
int syslog_priority(LogLevel level);

/// "<4>mig: what happened" without a line end, as systemd reads standard error (sd-daemon(3)).
std::string priority_line(const LogEvent& event);

}  // namespace slipway::core
