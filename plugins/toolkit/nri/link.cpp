// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/link.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <slipway/unix_socket.hpp>

#include "toolkit/nri/registered.hpp"
#include "toolkit/nri/session.hpp"

namespace slipway::nri {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// Containers that an engine creates before the plugin is registered again get no devices, so the pause is short.
constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{250};
constexpr seconds kRegistration{10};  // an engine gives up on a plugin after five seconds, unless configured otherwise
constexpr milliseconds kLongestTurn{3'600'000};
constexpr std::size_t kPart = 64U << 10U;
constexpr std::size_t kMostUnsent = 1U << 20U;  // reading stops beyond this

}  // namespace

Status Link::run(const std::stop_token& stop) {
  wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return system_error("make", "an event", errno);
  const std::stop_callback when_stopped(stop, [this] { (void)::eventfd_write(wake_.get(), 1); });
  milliseconds pause = kFirstPause;
  while (!stop.stop_requested()) {
    served_ = false;
    const Status ended = serve();
    if (stopped_ || stop.stop_requested()) break;
    if (!ended) {
      const Error& error = ended.error();
      tell("warning", "not registered at " + socket_ + ": " + error.what +
                          (error.next.empty() ? "" : " (" + error.next + ")") + "; trying again");
    }
    pause = served_ ? kFirstPause : std::min(pause * 2, kLongestPause);
    wait(-1, 0, pause);
  }
  return {};
}

/// Serves one connection until it ends. Errors: the reason why it ended.
Status Link::serve() {
  SLIPWAY_TRY(end, connect_to(host_, socket_));
  Session session(adjust_);
  std::string unsent = Session::registration();
  const auto limit = Clock::now() + kRegistration;
  while (!stopped_) {
    const int events = (unsent.size() < kMostUnsent ? POLLIN : 0) | (unsent.empty() ? 0 : POLLOUT);
    const milliseconds turn = session.serving() ? kLongestTurn : std::chrono::ceil<milliseconds>(limit - Clock::now());
    if (wait(end.get(), events, turn)) SLIPWAY_CHECK(move_bytes(end, session, unsent));
    if (session.serving() && !served_) {
      served_ = true;
      tell("info", kRegistered + session.engine() + " at " + socket_);
    }
    if (!session.serving() && Clock::now() > limit)
      return Error{ErrorCode::timed_out,
                   "the engine did not accept the plugin within 10 s",
                   {},
                   "look into the engine's log",
                   {}};
  }
  return {};
}

Status Link::move_bytes(const Fd& end, Session& session, std::string& unsent) const {
  const ssize_t sent = unsent.empty() ? 0 : ::send(end.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return system_error("write to", socket_, errno);
  if (sent > 0) unsent.erase(0, static_cast<std::size_t>(sent));
  std::array<char, kPart> part;
  const ssize_t got = ::recv(end.get(), part.data(), part.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (got < 0) return system_error("read from", socket_, errno);
  if (got == 0) return Error{ErrorCode::io, "the engine has closed the connection", {}, {}, {}};
  SLIPWAY_TRY(answers, session.take({part.data(), static_cast<std::size_t>(got)}));
  unsent += answers;
  return {};
}

/// @return true when the descriptor is ready
bool Link::wait(int fd, int events, milliseconds limit) {
  const auto every = io_.alive_every();
  if (every) limit = std::min(limit, std::chrono::ceil<milliseconds>(alive_said_ + *every - Clock::now()));
  limit = std::max(limit, milliseconds(0));
  std::array<pollfd, 2> watched{pollfd{wake_.get(), POLLIN, 0}, pollfd{fd, static_cast<short>(events), 0}};
  const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(limit.count()));
  if (every && Clock::now() >= alive_said_ + *every) {
    io_.alive();
    alive_said_ = Clock::now();
  }
  if (ready > 0 && watched[0].revents != 0) stopped_ = true;
  return ready > 0 && watched[1].revents != 0;
}

void Link::tell(const char* level, const std::string& line) {
  if (line != told_) io_.log(level, line);
  if (line != told_) io_.status(line);
  told_ = line;
  if (!reported_ready_) io_.ready();
  reported_ready_ = true;
}

}  // namespace slipway::nri
