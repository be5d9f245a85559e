// SPDX-License-Identifier: Apache-2.0
#include "base/log/settings.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace slipway::base {
namespace {

constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLevels{
    {{"error", LogLevel::error}, {"warning", LogLevel::warning}, {"info", LogLevel::info}, {"debug", LogLevel::debug}}};
constexpr std::string_view kOption = "--log-format";

Result<LogLevel> read_level(const std::string& word) {
  for (const auto& [name, level] : kLevels)
    if (word == name) return level;
  return Error{ErrorCode::usage,
               "SLIPWAY_LOG is '" + word + "', which is not a log level",
               "environment",
               "set SLIPWAY_LOG to error, warning, info or debug, or unset it",
               {}};
}

}  // namespace

Result<LogSettings> read_log_settings(const std::string& format, bool verbose, const char* variable) {
  LogSettings settings;
  if (format == "json")
    settings.format = LogFormat::json;
  else if (!format.empty() && format != "text")
    return Error{
        ErrorCode::usage, "--log-format " + format + " is not a log format", "command line", "use text or json", {}};
  if (variable != nullptr && *variable != '\0') {
    SLIPWAY_TRY(level, read_level(variable));
    settings.level = level;
  }
  if (verbose) settings.level = LogLevel::debug;
  return settings;
}

LogFormat log_format_of(const std::vector<std::string>& words) {
  std::string_view form;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string_view word = words[i];
    if (word == kOption && i + 1 < words.size())
      form = words[++i];
    else if (word.starts_with(kOption) && word.substr(kOption.size()).starts_with('='))
      form = word.substr(kOption.size() + 1);
  }
  return form == "json" ? LogFormat::json : LogFormat::text;
}

}  // namespace slipway::base
