// SPDX-License-Identifier: Apache-2.0
// core/service/notify.hpp - tells systemd how a service of Type=notify is: sd_notify(3), without its library.
#pragma once

#include <string>

namespace slipway::core {

class Notify {
 public:
  /// The socket of $NOTIFY_SOCKET, which is taken out of the environment; without one nothing is said.
  Notify();
  explicit Notify(std::string socket) : socket_(std::move(socket)) {}

  bool listened_to() const { return !socket_.empty(); }
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
};

}  // namespace slipway::core
