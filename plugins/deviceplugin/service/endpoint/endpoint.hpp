// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/endpoint/endpoint.hpp - one resource towards kubelet: served, registered, and kept so.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "deviceplugin/service/endpoint/watched_socket.hpp"
#include "deviceplugin/service/grpc/file_id.hpp"
#include "deviceplugin/service/grpc/plugin_server.hpp"

namespace slipway::deviceplugin {

/// Inside the root, which is where kubelet runs.
struct EndpointPaths {
  std::string folder;          ///< of plugin sockets
  std::string kubelet_socket;  ///< empty: serve, and register nowhere
  std::string registry;        ///< plugins_registry
  bool in_registry = false;    ///< kubelet finds the resources there, instead of being told at its socket
  bool operator==(const EndpointPaths&) const = default;
};

/// How a resource stands with kubelet, for status and metrics.
struct EndpointStatus {
  bool registered = false;
  unsigned streams = 0;
  unsigned registrations = 0;
  std::string problem;
  std::string waits_for;  ///< why it is not registered, where nothing is wrong: kubelet does not run
  /// From kubelet's socket, or the list if that came later, to the registration that holds.
  std::optional<std::chrono::milliseconds> took;
  bool operator==(const EndpointStatus&) const = default;
};

/// Used by one thread. Each tick looks at what is there and does one next step, at most one call to kubelet (10 s).
///
/// It registers anew when kubelet's socket is another one, when its own socket is gone or replaced (kubelet empties the
/// folder as it starts; without another kubelet it waits a moment before it makes another socket), and when the stream
/// has ended or does not come. What kubelet has of it is ended before: kubelet takes the end of an earlier stream for
/// the end of the resource. While nobody listens at kubelet's socket it tries a few times within a second, since a
/// socket is there a moment before somebody listens, and then waits for another socket. Only a kubelet that answers and
/// refuses is asked less and less often.
class Endpoint {
 public:
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(const char* level, const std::string& text)>;

  struct Around {
    GrpcThread& grpc;
    const RootDir& root;
    Log log;
    std::stop_token stop;  ///< ends a call to kubelet
  };

  /// @param around  what it refers to outlives this object
  Endpoint(Around around, EndpointPaths paths, std::string resource, PluginCalls calls);

  void tick(const DeviceList& list, Clock::time_point now);
  /// When the next tick has something to do even if nothing happens until then; max(): never.
  Clock::time_point due() const { return due_; }
  /// Tells kubelet that there are no devices any more, and ends.
  void withdraw();
  /// Ends kubelet's stream; what was served stays until the object ends.
  void end_streams();
  /// Connections of kubelet that are open.
  unsigned connections() const;

  EndpointStatus status() const;

 private:
  std::string by_whom() const;
  void serve(const DeviceList& list, Clock::time_point now);
  void wait_for(const std::string& folder);
  void serve_anew(const std::string& why, Clock::time_point now);
  bool kubelet_is_another() const;
  void look_at_kubelet(Clock::time_point now);
  void watch_stream(Clock::time_point now);
  void register_again(const std::string& why, Clock::time_point now);
  bool former_is_over(Clock::time_point now);
  void register_now(Clock::time_point now);
  void refused(const Error& error, Clock::time_point now);
  void not_reached(const Error& error, Clock::time_point now);
  void back_off(Clock::time_point now);
  void wake_at(Clock::time_point time) { due_ = std::min(due_, time); }
  std::string socket_path() const { return paths_.folder + "/" + endpoint_; }

  Around around_;
  EndpointPaths paths_;
  std::string resource_;
  std::string endpoint_;  ///< name of the socket: "nvidia-gpu.sock"
  PluginCalls calls_;
  std::optional<WatchedSocket> watched_;
  std::unique_ptr<PluginServer> server_;
  std::unique_ptr<PluginServer> former_;  ///< until kubelet has noticed that it ended
  DeviceList shown_;
  std::optional<FileId> folder_;
  std::optional<FileId> kubelet_;
  Clock::time_point due_ = Clock::time_point::max();
  Clock::time_point since_;        ///< the list and kubelet's socket are there
  Clock::time_point close_limit_;  ///< kubelet is given until then to close its former connection
  Clock::time_point next_serve_;
  Clock::time_point next_try_;
  bool is_registered_ = false;
  bool is_taken_away_ = false;   ///< its socket, and it is not served again yet
  unsigned streams_before_ = 0;  ///< streams that were opened before it was registered
  Clock::time_point registered_at_;
  std::chrono::milliseconds back_off_{0};
  std::chrono::milliseconds serve_back_off_{0};
  unsigned quick_tries_ = 0;
  unsigned registrations_ = 0;
  std::optional<std::chrono::milliseconds> took_;
  std::string problem_;
  std::string waits_for_;
};

}  // namespace slipway::deviceplugin
