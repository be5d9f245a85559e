// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/watched_socket.hpp"

#include <utility>

namespace slipway::deviceplugin {
namespace {

// kubelet looks at a new socket at once, and tries again by itself for a while.
constexpr std::chrono::seconds kStreamLimit{20};

}  // namespace

WatchedSocket::WatchedSocket(std::string socket, std::string resource, std::string endpoint)
    : socket_(std::move(socket)), resource_(std::move(resource)), endpoint_(std::move(endpoint)) {}

Status WatchedSocket::tick(unsigned streams, Clock::time_point now) {
  if (streams > 0) stream_seen_ = now;
  const bool taken_away = server_ && file_id(socket_) != id_;
  if (taken_away || (server_ && now - stream_seen_ > kStreamLimit)) again();
  if (!server_) {
    SLIPWAY_TRY(server, RegistrationServer::start(socket_, resource_, endpoint_,
                                                  [told = told_](bool registered, const std::string& error) {
                                                    const std::lock_guard lock(told->mutex);
                                                    told->registered = registered;
                                                    told->times += registered ? 1 : 0;
                                                    told->error = error;
                                                  }));
    server_ = std::move(server);
    id_ = file_id(socket_);
    stream_seen_ = now;
  }
  const std::lock_guard lock(told_->mutex);
  if (told_->error.empty()) return {};
  return Error{.code = ErrorCode::denied,
               .what = "kubelet does not take " + resource_ + ": " + std::exchange(told_->error, {}),
               .where = socket_};
}

void WatchedSocket::again() {
  server_.reset();
  const std::lock_guard lock(told_->mutex);
  told_->registered = false;
}

bool WatchedSocket::registered() const {
  const std::lock_guard lock(told_->mutex);
  return told_->registered;
}

unsigned WatchedSocket::registrations() const {
  const std::lock_guard lock(told_->mutex);
  return told_->times;
}

}  // namespace slipway::deviceplugin
