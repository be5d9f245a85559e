// SPDX-License-Identifier: Apache-2.0
#include "core/service/notify.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::core {
namespace {

std::string taken_from_environment(const char* name) {
  const char* const value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

std::string monotonic_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::to_string(static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000);
}

/// Follows sd_watchdog_enabled(3): a third of the time, and only when this process is the one that is watched.
std::optional<std::chrono::milliseconds> third_of_watchdog() {
  const std::string watched = taken_from_environment("WATCHDOG_PID");
  const std::string text = taken_from_environment("WATCHDOG_USEC");
  std::uint64_t microseconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), microseconds);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || microseconds == 0) return std::nullopt;
  if (!watched.empty() && watched != std::to_string(::getpid())) return std::nullopt;
  constexpr std::uint64_t kLongest = 3'600'000;
  return std::chrono::milliseconds(std::clamp<std::uint64_t>(microseconds / 3000, 1, kLongest));
}

}  // namespace

Notify::Notify()
    : socket_(taken_from_environment("NOTIFY_SOCKET")),
      alive_every_(socket_.empty() ? std::nullopt : third_of_watchdog()) {}

void Notify::ready() const { say("READY=1"); }
void Notify::reloading() const { say("RELOADING=1\nMONOTONIC_USEC=" + monotonic_us()); }
void Notify::stopping() const { say("STOPPING=1"); }
void Notify::alive() const { say("WATCHDOG=1"); }

void Notify::status(const std::string& line) const {
  std::string text = line;
  std::replace(text.begin(), text.end(), '\n', ' ');
  say("STATUS=" + text);
}

void Notify::waits(const std::string& why) const {
  status(why);
  say("EXTEND_TIMEOUT_USEC=60000000");
}

/// A failed message does not end the service: systemd notices by its own limits.
void Notify::say(const std::string& text) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::copy(socket_.begin(), socket_.end(), address.sun_path);
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)::sendto(fd.get(), text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace slipway::core
