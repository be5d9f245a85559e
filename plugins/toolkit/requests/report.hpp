// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/report.hpp - what went wrong, told where engines look: standard error and the runtime's
// log.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include <slipway/error.hpp>

namespace slipway::shim {

enum class Level { error, warning, info, debug };

/// A text that somebody else wrote, with as much of it as a message may have: 200 bytes.
std::string shortened(std::string_view foreign);

/// "PROGRAM: WHAT (WHERE); DO; LABEL: DETAIL": engines show one line.
std::string one_line(const std::string& program, const Error& error);

/// A line of runc's log, as logrus writes it: {"level":…,"msg":…,"time":…} or time="…" level=… msg="…".
std::string log_line(Level level, const std::string& message, bool json, std::time_t now);

/// Appends a line to a log; nothing where the path is empty or cannot be written.
void append_log(const std::string& path, const std::string& line);

}  // namespace slipway::shim
