// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/watched_socket.hpp - keeps a resource's socket in plugins_registry, where kubelet finds
// it.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "deviceplugin/service/file_id.hpp"
#include "deviceplugin/service/grpc/registration_server.hpp"

namespace slipway::deviceplugin {

/// Used by one thread; kubelet's words come from others.
class WatchedSocket {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param endpoint  path of the plugin's own socket, as kubelet sees it
  WatchedSocket(std::string socket, std::string resource, std::string endpoint);

  /// Makes the socket (anew), when it is not there, or kubelet has not opened a stream for long.
  /// Errors: `io`; `denied` kubelet refused, with its words; each once.
  Status tick(unsigned streams, Clock::time_point now);
  /// The plugin's own socket is another one: kubelet must ask again.
  void again();
  bool registered() const;
  unsigned registrations() const;

 private:
  struct Told {
    std::mutex mutex;
    bool registered = false;
    unsigned times = 0;
    std::string error;
  };

  std::string socket_;
  std::string resource_;
  std::string endpoint_;
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
  std::unique_ptr<RegistrationServer> server_;
  std::optional<FileId> id_;
  Clock::time_point stream_seen_;
};

}  // namespace slipway::deviceplugin
