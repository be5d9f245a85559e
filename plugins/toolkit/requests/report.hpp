// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/report.hpp - reports errors where engines look for them: on standard error and in the
// runtime's log.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include <slipway/error.hpp>

namespace slipway::shim {

enum class Level { error, warning, info, debug };

/// Shortens a text from outside to the limit for messages: 200 bytes.
std::string shortened(std::string_view foreign);

/// Formats "PROGRAM: WHAT (WHERE); DO; LABEL: DETAIL", because engines show one line.
std::string one_line(const std::string& program, const Error& error);

/// Formats a line of runc's log, like logrus: {"level":…,"msg":…,"time":…} or time="…" level=… msg="…".
std::string log_line(Level level, const std::string& message, bool json, std::time_t now);

/// Appends a line to a log; does nothing if the path is empty or not writable.
void append_log(const std::string& path, const std::string& line);

}  // namespace slipway::shim
