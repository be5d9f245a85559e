// SPDX-License-Identifier: Apache-2.0
// base/log/event.hpp - one event of the log, before it is formatted.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <slipway/error.hpp>
#include <slipway/json.hpp>

namespace slipway::base {

/// From levels that are always shown to those shown only on request.
enum class LogLevel { error, warning, info, debug };

struct LogEvent {
  LogLevel level = LogLevel::info;
  std::string component;          ///< empty: slipway itself
  std::string phase;              ///< "detect", "plan", "switch", "service", …; empty: none
  std::optional<int> generation;  ///< active in the root; empty: none, or not known yet
  std::string message;            ///< may contain untrusted bytes: each form escapes what is not plain text
  std::string block;              ///< for an error: its text for users, in several lines
  Json error;                     ///< for an error: the result of to_json(); else null
};

/// @param block  the error for users, from to_text() or longer
inline LogEvent event_of(const Error& error, std::string block) {
  return {LogLevel::error, {}, {}, {}, error.what, std::move(block), to_json(error)};
}

}  // namespace slipway::base
