// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/channel.hpp"

#include <array>
#include <cerrno>

#include <sys/socket.h>

namespace slipway::core {

Status Channel::queue(const Json& message) {
  SLIPWAY_TRY(frame, encode_frame(message));
  outgoing_ += frame;
  return {};
}

void Channel::send() {
  std::size_t sent = 0;
  while (sent < outgoing_.size()) {
    const ssize_t part =
        ::send(socket_.get(), outgoing_.data() + sent, outgoing_.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) break;
    sent += static_cast<std::size_t>(part);
  }
  outgoing_.erase(0, sent);
}

bool Channel::receive() {
  std::array<char, 65536> part;
  constexpr int kParts = 64;  // then the caller checks the clock again
  for (int i = 0; i < kParts; ++i) {
    const ssize_t got = recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (got > 0)
      reader_.feed({part.data(), static_cast<std::size_t>(got)});
    else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return true;
    else if (got == 0 || errno != EINTR)
      return false;
  }
  return true;
}

}  // namespace slipway::core
