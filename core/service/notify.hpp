// SPDX-License-Identifier: Apache-2.0
// core/service/notify.hpp - tells systemd how a service of Type=notify is: sd_notify(3), without its library.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace slipway::core {

class Notify {
 public:
  /// The socket of $NOTIFY_SOCKET, and the watchdog of $WATCHDOG_USEC, which are taken out of the environment; without
  /// a socket nothing is said.
  Notify();
  explicit Notify(std::string socket) : socket_(std::move(socket)) {}

  bool listened_to() const { return !socket_.empty(); }
  /// How often alive() has to be said: a third of WatchdogSec. Empty: systemd does not wait for it.
  std::optional<std::chrono::milliseconds> alive_every() const { return alive_every_; }
  void ready() const;
  /// With the monotonic clock, as Type=notify-reload wants it.
  void reloading() const;
  void stopping() const;
  void status(const std::string& line) const;
  /// It takes longer to start, for that reason: systemd gives it another minute.
  void waits(const std::string& why) const;
  /// The service's loop turns.
  void alive() const;

 private:
  void say(const std::string& text) const;
  std::string socket_;  ///< a path, or "@name" of an abstract one
  std::optional<std::chrono::milliseconds> alive_every_;
};

}  // namespace slipway::core
