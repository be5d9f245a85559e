// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/endpoint.hpp - one resource towards kubelet: served, registered, and kept so.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "deviceplugin/service/file_id.hpp"
#include "deviceplugin/service/grpc/plugin_server.hpp"
#include "deviceplugin/service/watched_socket.hpp"

namespace slipway::deviceplugin {

struct EndpointPaths {
  std::string folder;          ///< of plugin sockets
  std::string kubelet_socket;  ///< empty: serve, and register nowhere
  std::string registry;        ///< plugins_registry, when kubelet is to find the resources there; else empty
  std::string folder_of_host;  ///< `folder` as kubelet sees it
  bool operator==(const EndpointPaths&) const = default;
};

/// Used by one thread. Each tick looks at what is there and does one next step, at most one call to kubelet (10 s).
///
/// It registers anew when kubelet's socket is another one, when its own socket is gone or replaced (kubelet empties the
/// folder as it starts), and when the stream has ended or does not come. What kubelet has of it is ended before.
class Endpoint {
 public:
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(const char* level, const std::string& text)>;

  Endpoint(EndpointPaths paths, std::string resource, PluginCalls calls, Log log);

  void tick(const DeviceList& list, Clock::time_point now);
  /// Tells kubelet that there are no devices any more, and ends.
  void withdraw();

  bool registered() const { return watched_ ? watched_->registered() : registered_with_.has_value(); }
  unsigned streams() const { return server_ ? server_->streams() : 0; }
  const std::string& problem() const { return problem_; }
  unsigned registrations() const { return watched_ ? watched_->registrations() : registrations_; }

 private:
  void serve(const DeviceList& list, Clock::time_point now);
  void wait_for(const std::string& folder);
  void stop(const std::string& why);
  void register_at_socket(Clock::time_point now);
  void watch_stream(Clock::time_point now);
  void register_now(const FileId& kubelet, Clock::time_point now);
  void failed(const Error& error, Clock::time_point now);
  std::string socket_path() const { return paths_.folder + "/" + endpoint_; }

  EndpointPaths paths_;
  std::string resource_;
  std::string endpoint_;  ///< name of the socket: "nvidia-gpu.sock"
  PluginCalls calls_;
  Log log_;
  std::optional<WatchedSocket> watched_;
  std::unique_ptr<PluginServer> server_;
  DeviceList shown_;
  std::optional<FileId> socket_id_;
  std::optional<FileId> registered_with_;
  std::optional<FileId> tried_with_;
  Clock::time_point stream_seen_;
  Clock::time_point next_try_;
  std::chrono::milliseconds back_off_{0};
  unsigned registrations_ = 0;
  std::string problem_;
};

}  // namespace slipway::deviceplugin
