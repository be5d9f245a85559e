// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/top/terminal.hpp - a terminal that is redrawn repeatedly, and restored afterwards.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <termios.h>

#include <slipway/fd.hpp>

namespace slipway::dcgm {

/// True when standard output is a terminal that can redraw lines.
bool can_draw();
/// Columns and rows of standard output; empty: unknown.
struct TerminalSize {
  std::size_t columns = 0;
  std::size_t rows = 0;
};
std::optional<TerminalSize> terminal_size();

/// Controls the screen from the constructor to the destructor: reads keys one by one without echo, and reports signals
/// as events. Handles SIGTSTP and SIGCONT itself.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void draw(const std::vector<std::string>& lines);

  struct Event {
    enum class Kind { time, resized, key, ended } kind = Kind::time;
    char key = 0;    ///< of a key
    int signal = 0;  ///< the signal of `ended`; 0: the terminal was closed
  };
  Event wait(std::chrono::milliseconds limit);

 private:
  void enter();
  void leave();
  std::optional<Event> take_signal();

  termios before_{};
  bool has_keys_ = false;  ///< standard input is a terminal
  sigset_t blocked_before_{};
  Fd signals_;
};

}  // namespace slipway::dcgm
