// SPDX-License-Identifier: Apache-2.0
// base/log/log.hpp - the log of slipway's programs: whoever writes an event need not know where its line goes.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "base/log/settings.hpp"

namespace slipway::core {

/// The surroundings of a log; a test has others.
struct LogPlace {
  std::string journal_socket = "/run/systemd/journal/socket";
  const char* journal_stream = std::getenv("JOURNAL_STREAM");
  /// Breaks a text for people where the terminal ends; empty: lines stay whole.
  std::function<std::string(const std::string& text)> fit = {};
};

/// Writes to standard error: lines for people, in colour on a terminal unless NO_COLOR is set (no-color.org), or JSON.
/// Where standard error is systemd's journal, and JSON was not asked for, an event is an entry there with its fields;
/// one that the journal does not take is a line on standard error after all. Thread-safe.
class Log {
 public:
  explicit Log(const LogSettings& settings, const LogPlace& place = {});
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  bool shows(LogLevel level) const;
  /// Nothing, when the settings' level leaves it out.
  void write(const LogEvent& event);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace slipway::core
