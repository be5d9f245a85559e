// SPDX-License-Identifier: Apache-2.0
#include "dcgm/top/terminal.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/write/standard_output.hpp"

namespace slipway::dcgm {
namespace {

// Switches to the alternate screen, so that the terminal's content returns afterwards, and hides the cursor.
constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l";
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";

sigset_t taken_signals() {
  sigset_t set{};
  sigemptyset(&set);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP}) sigaddset(&set, each);
  return set;
}

}  // namespace

bool can_draw() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

std::optional<TerminalSize> terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return TerminalSize{size.ws_col, size.ws_row};
}

Terminal::Terminal() {
  const sigset_t taken = taken_signals();
  ::sigprocmask(SIG_BLOCK, &taken, &blocked_before_);
  signals_ = Fd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  has_keys_ = ::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0;
  enter();
}

Terminal::~Terminal() {
  leave();
  ::sigprocmask(SIG_SETMASK, &blocked_before_, nullptr);
}

void Terminal::enter() {
  if (has_keys_) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  base::write_standard_output(kEnter);
}

void Terminal::leave() {
  base::write_standard_output(kLeave);
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void Terminal::draw(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
  base::write_standard_output(text + "\x1b[J");
}

std::optional<Terminal::Event> Terminal::take_signal() {
  signalfd_siginfo info{};
  if (::read(signals_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  const int number = static_cast<int>(info.ssi_signo);
  if (number == SIGWINCH) return Event{.kind = Event::Kind::resized};
  if (number != SIGTSTP) return Event{.kind = Event::Kind::ended, .signal = number};
  leave();
  ::raise(SIGSTOP);  // until the user continues it
  enter();
  return Event{.kind = Event::Kind::resized};
}

Terminal::Event Terminal::wait(std::chrono::milliseconds limit) {
  std::array<pollfd, 2> fds{{{signals_.get(), POLLIN, 0}, {has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}}};
  if (::poll(fds.data(), fds.size(), static_cast<int>(limit.count())) <= 0) return {};
  if (fds[0].revents != 0)
    if (const auto event = take_signal()) return *event;
  if (fds[1].revents == 0) return {};
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) != 1) return {.kind = Event::Kind::ended};
  return {.kind = Event::Kind::key, .key = key};
}

}  // namespace slipway::dcgm
