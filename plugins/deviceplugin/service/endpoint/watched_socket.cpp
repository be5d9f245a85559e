// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/endpoint/watched_socket.hpp"

#include <utility>

namespace slipway::deviceplugin {
namespace {

// kubelet reads a new socket within a second, and retries for a while by itself.
constexpr std::chrono::seconds kFirstStreamLimit{20};
// A running kubelet does not reopen a stream that it has ended; one that exits takes its time.
constexpr std::chrono::seconds kLostStreamLimit{1};
constexpr std::chrono::seconds kTryAgain{2};

}  // namespace

WatchedSocket::WatchedSocket(GrpcThread& grpc, const RootDir& root, std::string socket, std::string resource,
                             std::string endpoint, std::function<void()> on_change)
    : grpc_(grpc),
      root_(root),
      socket_(std::move(socket)),
      resource_(std::move(resource)),
      endpoint_(std::move(endpoint)),
      on_change_(std::move(on_change)) {}

Status WatchedSocket::tick(unsigned streams, Clock::time_point now) {
  due_ = Clock::time_point::max();
  if (streams > 0) {
    stream_seen_ = now;
    had_stream_ = true;
  }
  const auto limit = stream_seen_ + (had_stream_ ? kLostStreamLimit : kFirstStreamLimit);
  const bool taken_away = server_ && file_id(root_, socket_) != server_->file();
  if (taken_away || (server_ && streams == 0 && now >= limit)) again();
  if (!server_ && now < next_try_) {
    due_ = next_try_;
    return {};
  }
  if (!server_) {
    auto server =
        RegistrationServer::start(grpc_, root_, socket_, resource_, endpoint_,
                                  [answer = answer_, wake = on_change_](bool registered, const std::string& error) {
                                    {
                                      const std::lock_guard lock(answer->mutex);
                                      answer->registered = registered;
                                      answer->times += registered ? 1 : 0;
                                      answer->error = error;
                                    }
                                    if (wake) wake();
                                  });
    if (!server) {
      due_ = next_try_ = now + kTryAgain;
      return server.error();
    }
    server_ = std::move(*server);
    stream_seen_ = now;
    had_stream_ = streams > 0;
  }
  if (streams == 0) due_ = stream_seen_ + (had_stream_ ? kLostStreamLimit : kFirstStreamLimit);
  const std::lock_guard lock(answer_->mutex);
  if (answer_->error.empty()) return {};
  return Error{.code = ErrorCode::denied,
               .what = "kubelet does not accept " + resource_ + ": " + std::exchange(answer_->error, {}),
               .where = socket_};
}

void WatchedSocket::again() {
  server_.reset();
  next_try_ = {};
  const std::lock_guard lock(answer_->mutex);
  answer_->registered = false;
}

bool WatchedSocket::registered() const {
  const std::lock_guard lock(answer_->mutex);
  return answer_->registered;
}

unsigned WatchedSocket::registrations() const {
  const std::lock_guard lock(answer_->mutex);
  return answer_->times;
}

}  // namespace slipway::deviceplugin
