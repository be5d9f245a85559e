// SPDX-License-Identifier: Apache-2.0
#include "base/http/connections.hpp"

#include <algorithm>
#include <map>

namespace slipway::base {
Connections::Connection* Connections::add(int fd, std::string peer, Clock::time_point now) {
  if (live_connections_of(peer) >= limits_.of_a_peer) end(*oldest_of(peer));
  if (alive() >= limits_.all) end(*oldest_of(greediest()));
  connections_.push_back({.fd = fd, .peer = std::move(peer), .start = now});
  return &connections_.back();
}

void Connections::remove(const Connection* connection) {
  connections_.remove_if([&](const Connection& each) { return &each == connection; });
}

void Connections::close_expired(Clock::time_point now) {
  for (Connection& connection : connections_)
    if (now - connection.start >= limits_.longest) end(connection);
}

void Connections::end(Connection& connection) {
  if (!connection.ended) end_(connection.fd);
  connection.ended = true;
}

std::size_t Connections::alive() const {
  return static_cast<std::size_t>(std::ranges::count_if(connections_, [](const auto& each) { return !each.ended; }));
}

std::size_t Connections::live_connections_of(const std::string& peer) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(connections_, [&](const auto& each) { return !each.ended && each.peer == peer; }));
}

Connections::Connection* Connections::oldest_of(const std::string& peer) {
  Connection* oldest = nullptr;
  for (Connection& each : connections_) {
    if (each.ended || each.peer != peer) continue;
    if (!each.asked) return &each;
    if (oldest == nullptr) oldest = &each;
  }
  return oldest;
}

/// Among peers with equally many, returns the one whose oldest connection is the oldest.
std::string Connections::greediest() const {
  std::map<std::string, std::size_t> counts;
  for (const Connection& each : connections_)
    if (!each.ended) ++counts[each.peer];
  std::string greediest;
  std::size_t most = 0;
  for (const Connection& each : connections_) {
    if (each.ended || counts[each.peer] <= most) continue;
    most = counts[each.peer];
    greediest = each.peer;
  }
  return greediest;
}

}  // namespace slipway::base
