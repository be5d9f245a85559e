// SPDX-License-Identifier: Apache-2.0
// base/http/connections.hpp - the connections of a listener by peer, and which of too many has to go.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <utility>

namespace slipway {

/// For one thread.
class Connections {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t all;
    std::size_t of_a_peer;
    Clock::duration longest;  ///< from a connection's start
  };
  struct Connection {
    int fd = -1;
    std::string peer;
    Clock::time_point start;
    bool asked = false;  ///< it has sent a request that may be answered
    bool ended = false;  ///< the listener sees the end of its stream, and takes it away
  };

  /// @param end  is called for a connection that has to go, once; remove() follows later
  Connections(Limits limits, std::function<void(int fd)> end) : limits_(limits), end_(std::move(end)) {}

  /// Of too many connections of this peer its oldest goes; of too many altogether the oldest of the peer that has the
  /// most. Those that have asked for nothing yet go first: where the kernel does not tell this machine's users apart
  /// they are one peer, and whoever only connects shall not end what another one is being sent. What is returned stays
  /// where it is until remove().
  Connection* add(int fd, std::string peer, Clock::time_point now);
  void remove(const Connection* connection);
  void end_old(Clock::time_point now);

 private:
  void end(Connection& connection);
  std::size_t alive() const;
  std::size_t alive_of(const std::string& peer) const;
  /// nullptr: it has none.
  Connection* oldest_of(const std::string& peer);
  std::string greediest() const;

  Limits limits_;
  std::function<void(int)> end_;
  std::list<Connection> connections_;  ///< the oldest come first
};

}  // namespace slipway
