// SPDX-License-Identifier: Apache-2.0
// core/worker/client/channel.hpp - slipway's end of the connection to a worker: frames that never block the caller.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <slipway/json.hpp>
#include <slipway/root_dir.hpp>

#include "core/worker/frame.hpp"

namespace slipway::core {

class Channel {
 public:
  /// @param socket  of type SOCK_STREAM
  explicit Channel(Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  bool has_unsent() const { return !outgoing_.empty(); }

  /// Queues a message for sending. Errors: `invalid` when it is too long for a frame.
  Status queue(const Json& message);
  /// Sends as much as the other end can take now. receive() tells when the other end is closed.
  void send();
  /// Receives the available bytes, up to a limit. @return false when the other end is closed
  bool receive();
  /// Returns the next received message; see FrameReader::next().
  Result<std::optional<Json>> next() { return reader_.next(); }

 private:
  Fd socket_;
  FrameReader reader_;
  std::string outgoing_;
};

}  // namespace slipway::core
