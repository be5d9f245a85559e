// SPDX-License-Identifier: Apache-2.0
// base/log/settings.hpp - the level and the form of the log: --log-format, -v and SLIPWAY_LOG.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "base/log/event.hpp"

namespace slipway::base {

enum class LogFormat { text, json };

struct LogSettings {
  LogFormat format = LogFormat::text;
  LogLevel level = LogLevel::info;
  bool operator==(const LogSettings&) const = default;
};

/// @param format   the value of --log-format; empty: not given
/// @param verbose  -v was given, which takes precedence over the variable
/// @param variable the value of SLIPWAY_LOG; null or empty: not set
/// Errors: `invalid`, for exit code 64, with the option or the variable and its allowed values.
Result<LogSettings> read_log_settings(const std::string& format, bool verbose, const char* variable);

/// Returns the requested form, before the words are checked.
LogFormat log_format_of(const std::vector<std::string>& words);

}  // namespace slipway::base
