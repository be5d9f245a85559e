// SPDX-License-Identifier: Apache-2.0
// base/log/event.hpp - one event of the log, before it has a form.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <slipway/error.hpp>
#include <slipway/json.hpp>

namespace slipway::core {

/// From what is always shown to what is shown only when asked for.
enum class LogLevel { error, warning, info, debug };

struct LogEvent {
  LogLevel level = LogLevel::info;
  std::string component;          ///< empty: slipway itself
  std::string phase;              ///< "detect", "plan", "switch", "service", …; empty: none
  std::optional<int> generation;  ///< in force in the root; empty: none, or not known yet
  std::string message;            ///< may hold bytes of others: each form escapes what is not plain text
  std::string block;              ///< of an error: the same for people, in several lines
  Json error;                     ///< of an error: as to_json() has it; else null
};

/// @param block  the error for people, as to_text() or more
inline LogEvent event_of(const Error& error, std::string block) {
  return {LogLevel::error, {}, {}, {}, error.what, std::move(block), to_json(error)};
}

}  // namespace slipway::core
