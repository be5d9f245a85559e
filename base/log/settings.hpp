// SPDX-License-Identifier: Apache-2.0
// base/log/settings.hpp - how much is logged, and in which form: --log-format, -v and SLIPWAY_LOG.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "base/log/event.hpp"

namespace slipway::core {

enum class LogFormat { text, json };

struct LogSettings {
  LogFormat format = LogFormat::text;
  LogLevel level = LogLevel::info;
  bool operator==(const LogSettings&) const = default;
};

/// @param format   behind --log-format; empty: not given
/// @param verbose  -v was given, which is worth more than the variable
/// @param variable the value of SLIPWAY_LOG; null or empty: not set
/// Errors: `invalid`, for exit code 64, with the option or the variable and the words that it may have.
Result<LogSettings> read_log_settings(const std::string& format, bool verbose, const char* variable);

/// The form that these words ask for, before anybody has found them right.
LogFormat log_format_of(const std::vector<std::string>& words);

}  // namespace slipway::core
