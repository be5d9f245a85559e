// SPDX-License-Identifier: Apache-2.0
// core/service/notify.hpp - reports the state of a service of Type=notify to systemd: sd_notify(3), without its
// library.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace slipway::core {

class Notify {
 public:
  /// Takes the socket of $NOTIFY_SOCKET and the watchdog of $WATCHDOG_USEC, and removes both from the environment.
  /// Without a socket nothing is reported.
  Notify();
  explicit Notify(std::string socket) : socket_(std::move(socket)) {}

  bool listened_to() const { return !socket_.empty(); }
  /// The interval for calling alive(): a third of WatchdogSec. Empty when there is no watchdog.
  std::optional<std::chrono::milliseconds> alive_every() const { return alive_every_; }
  void ready() const;
  /// Reports the reload with the monotonic clock, as Type=notify-reload requires.
  void reloading() const;
  void stopping() const;
  void status(const std::string& line) const;
  /// Reports why the start takes longer, which gives it another minute.
  void waits(const std::string& why) const;
  /// Reports that the service's loop is running.
  void alive() const;

 private:
  void say(const std::string& text) const;
  std::string socket_;  ///< a path, or "@name" for an abstract socket
  std::optional<std::chrono::milliseconds> alive_every_;
};

}  // namespace slipway::core
