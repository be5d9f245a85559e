// SPDX-License-Identifier: Apache-2.0
// base/http/connections.hpp - the connections of a listener by peer; chooses which one to close.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <utility>

namespace slipway::base {

/// For one thread.
class Connections {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t all;
    std::size_t of_a_peer;
    Clock::duration longest;  ///< since a connection's start
  };
  struct Connection {
    int fd = -1;
    std::string peer;
    Clock::time_point start;
    bool asked = false;  ///< it has sent a request that may be answered
    bool ended = false;  ///< the listener has seen the end of its stream, and removes it
  };

  /// @param end  is called once for a connection to close; remove() follows later
  Connections(Limits limits, std::function<void(int fd)> end) : limits_(limits), end_(std::move(end)) {}

  /// Adds a connection. With too many of this peer, closes its oldest; with too many in total, the oldest of the peer
  /// that has the most. Connections without a request yet are closed first: when the kernel does not distinguish this
  /// machine's users they are one peer, and a user who only connects must not end the answer to another user. The
  /// returned connection stays at its address until remove().
  Connection* add(int fd, std::string peer, Clock::time_point now);
  void remove(const Connection* connection);
  void close_expired(Clock::time_point now);

 private:
  void end(Connection& connection);
  std::size_t alive() const;
  std::size_t live_connections_of(const std::string& peer) const;
  /// Returns nullptr when the peer has no connection.
  Connection* oldest_of(const std::string& peer);
  std::string greediest() const;

  Limits limits_;
  std::function<void(int)> end_;
  std::list<Connection> connections_;  ///< the oldest first
};

}  // namespace slipway::base
