// SPDX-License-Identifier: Apache-2.0
// base/log/lines.hpp - an event of the log as text: for users, for programs, and for systemd when its journal is
// missing.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/log/event.hpp"

namespace slipway::base {

/// Returns the text with control characters and bytes that are not UTF-8 as escapes (\n, \x1b), so that it is one line
/// and moves no cursor. With `lines`, keeps its line ends and tabs.
std::string printable(std::string_view text, bool lines = false);

/// Returns "mig: warning: what happened", without a line end. For an error, returns its block.
std::string text_line(const LogEvent& event);

/// Returns the level in a text_line() ("warning:", "error:"), for its colour; empty when the line does not name it.
std::string_view level_mark(LogLevel level);

/// Returns one JSON object in ASCII, without a line end (docs/user-guide.md, "Log on standard error").
std::string json_line(const LogEvent& event, std::chrono::system_clock::time_point time);

/// syslog(3)'s number of the level.
int syslog_priority(LogLevel level);

/// Returns "<4>mig: what happened" without a line end, the form that systemd reads from standard error (sd-daemon(3)).
std::string priority_line(const LogEvent& event);

}  // namespace slipway::base
