// SPDX-License-Identifier: Apache-2.0
// core/worker/client/output.hpp - a worker's output and log messages: passes them on line by line, and keeps the last
// lines for reports.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace slipway::core {

class ToolOutput {
 public:
  static constexpr std::size_t kKeptLines = 10;
  static constexpr std::size_t kMaxLine = 4096;          ///< bytes; a longer line becomes several
  static constexpr std::size_t kMaxPerCall = 16U << 20;  ///< bytes; more in one call ends the worker

  using Listener = std::function<void(const std::string& level, const std::string& text)>;

  /// Handles bytes from its standard output or error.
  void printed(std::string_view bytes, const Listener& listener);
  /// Handles a log message.
  void logged(const std::string& level, const std::string& text, const Listener& listener);
  /// Passes on a last line that has no newline.
  void flush(const Listener& listener);

  void begin_call() { bytes_ = 0; }
  bool flooded() const { return bytes_ > kMaxPerCall; }
  /// The last lines, oldest first, separated by newlines.
  std::string last_lines() const;

 private:
  void line(const std::string& level, std::string text, const Listener& listener);
  std::string open_line_;
  std::deque<std::string> last_;
  std::size_t bytes_ = 0;
};

}  // namespace slipway::core
