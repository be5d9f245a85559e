// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/endpoint/watched_socket.hpp - keeps a resource's socket in plugins_registry, where
// kubelet finds it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "deviceplugin/service/grpc/file_id.hpp"
#include "deviceplugin/service/grpc/registration.hpp"

namespace slipway::deviceplugin {

/// Used by one thread; kubelet's calls arrive on another one.
class WatchedSocket {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param endpoint   path of the plugin's own socket, as kubelet sees it
  /// @param on_change  called when kubelet has answered
  /// The first two outlive this object.
  WatchedSocket(GrpcThread& grpc, const RootDir& root, std::string socket, std::string resource, std::string endpoint,
                std::function<void()> on_change);

  /// Creates the socket (again) when it is missing, or when kubelet has ended its stream or has not opened a stream for
  /// a long time. Errors: those of the file system; `denied` kubelet refused, with its text; each once.
  Status tick(unsigned streams, Clock::time_point now);
  /// When the next tick is due without an event.
  Clock::time_point due() const { return due_; }
  /// The plugin's own socket was replaced: kubelet must ask again.
  void again();
  bool registered() const;
  unsigned registrations() const;

 private:
  struct KubeletAnswer {
    std::mutex mutex;
    bool registered = false;
    unsigned times = 0;
    std::string error;
  };

  GrpcThread& grpc_;
  const RootDir& root_;
  std::string socket_;
  std::string resource_;
  std::string endpoint_;
  std::function<void()> on_change_;
  std::shared_ptr<KubeletAnswer> answer_ = std::make_shared<KubeletAnswer>();
  std::unique_ptr<RegistrationServer> server_;
  bool had_stream_ = false;
  Clock::time_point stream_seen_;
  Clock::time_point next_try_;
  Clock::time_point due_ = Clock::time_point::max();
};

}  // namespace slipway::deviceplugin
