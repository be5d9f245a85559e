// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/endpoint/endpoint.hpp - one resource at kubelet: served, registered, and kept
// registered.
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

/// Paths inside the root, which is kubelet's root too.
struct EndpointPaths {
  std::string folder;          ///< of plugin sockets
  std::string kubelet_socket;  ///< empty: serve without registering
  std::string registry;        ///< plugins_registry
  bool in_registry = false;    ///< kubelet finds the resources in plugins_registry, without a call to its socket
  bool operator==(const EndpointPaths&) const = default;
};

/// The state of a resource's registration, for status and metrics.
struct EndpointStatus {
  bool registered = false;
  unsigned streams = 0;
  unsigned registrations = 0;
  std::string problem;
  std::string waits_for;  ///< why it is not registered without an error: kubelet does not run
  /// The time from kubelet's socket, or the list if it came later, to the registration.
  std::optional<std::chrono::milliseconds> took;
  bool operator==(const EndpointStatus&) const = default;
};

/// Used by one thread. Each tick checks the state and does the next step, at most one call to kubelet (10 s).
///
/// It registers again when kubelet's socket was replaced, when its own socket is gone or replaced (kubelet empties the
/// folder as it starts; if kubelet has not restarted, it waits a moment before it creates another socket), and when the
/// stream has ended or does not start. It ends the earlier stream first, because kubelet takes the end of any stream
/// for the end of the resource. While no process listens at kubelet's socket it tries a few times within a second,
/// since a socket exists a moment before kubelet listens, and then waits for another socket. When kubelet answers and
/// refuses, each attempt waits longer than the one before.
class Endpoint {
 public:
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(const char* level, const std::string& text)>;

  struct EndpointContext {
    GrpcThread& grpc;
    const RootDir& root;
    Log log;
    std::stop_token stop;  ///< cancels a call to kubelet
  };

  /// @param around  the objects it refers to outlive this one
  Endpoint(EndpointContext context, EndpointPaths paths, std::string resource, PluginCalls calls);

  void tick(const DeviceList& list, Clock::time_point now);
  /// When the next tick is due without an event; max(): never.
  Clock::time_point due() const { return due_; }
  /// Sends kubelet an empty list, and ends.
  void withdraw();
  /// Ends kubelet's stream; the server stays until the object is destroyed.
  void end_streams();
  /// Number of open connections from kubelet.
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

  EndpointContext context_;
  EndpointPaths paths_;
  std::string resource_;
  std::string endpoint_;  ///< name of the socket: "nvidia-gpu.sock"
  PluginCalls calls_;
  std::optional<WatchedSocket> watched_;
  std::unique_ptr<PluginServer> server_;
  std::unique_ptr<PluginServer> former_;  ///< kept until kubelet has noticed its end
  DeviceList shown_;
  std::optional<FileId> folder_;
  std::optional<FileId> kubelet_;
  Clock::time_point due_ = Clock::time_point::max();
  Clock::time_point since_;        ///< when both the list and kubelet's socket were available
  Clock::time_point close_limit_;  ///< deadline for kubelet to close its former connection
  Clock::time_point next_serve_;
  Clock::time_point next_try_;
  bool is_registered_ = false;
  bool socket_was_removed_ = false;  ///< its socket was removed, and is not served again yet
  unsigned streams_before_ = 0;      ///< streams that were opened before the registration
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
