// SPDX-License-Identifier: Apache-2.0
// base/log/log.hpp - the log of slipway's programs: the code that writes an event does not choose where its line goes.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "base/log/settings.hpp"

namespace slipway::base {

/// The environment of a log; tests use their own.
struct LogPlace {
  std::string journal_socket = "/run/systemd/journal/socket";
  const char* journal_stream = std::getenv("JOURNAL_STREAM");
  /// Wraps a text for users at the terminal's width; empty: lines stay whole.
  std::function<std::string(const std::string& text)> fit = {};
};

/// Writes to standard error: lines for users, in colour on a terminal unless NO_COLOR is set (no-color.org), or JSON.
/// When standard error is systemd's journal, and JSON was not requested, an event is a journal entry with fields; an
/// event that the journal does not accept is a line on standard error. Thread-safe.
class Log {
 public:
  explicit Log(const LogSettings& settings, const LogPlace& place = {});
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  bool shows(LogLevel level) const;
  /// Does nothing when the settings' level excludes the event.
  void write(const LogEvent& event);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace slipway::base
