// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/plugin_server.hpp - the gRPC server of one resource, on a socket of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "deviceplugin/allocation/allocate.hpp"
#include "deviceplugin/allocation/preferred_devices.hpp"
#include "deviceplugin/service/grpc/server.hpp"

namespace slipway::deviceplugin {

/// A device in the list for kubelet.
struct Listed {
  std::string id;
  bool healthy = true;
  std::optional<int> numa_node;
  bool operator==(const Listed&) const = default;
};
using DeviceList = std::shared_ptr<const std::vector<Listed>>;

/// The functions that the server calls on its thread.
struct PluginCalls {
  std::function<Result<Grant>(const std::vector<std::string>& ids)> allocate;
  std::function<std::vector<std::string>(const PreferredRequest& request)> prefer;
  std::function<void()> on_change;  ///< kubelet's stream or connection began or ended; may be empty
};

/// Encodes a list once for all streams.
class PluginServer {
 public:
  /// Listens at a path inside the root. Each new stream gets the list. Errors: those of the file system, with the path.
  static Result<std::unique_ptr<PluginServer>> start(GrpcThread& thread, const RootDir& root, const std::string& socket,
                                                     PluginCalls calls, const DeviceList& list);

  const FileId& file() const { return server_->file(); }
  /// Sends a new list to all streams. A slow stream gets only the newest.
  void show(const DeviceList& list);
  /// Number of open streams; kubelet has one.
  unsigned streams() const { return server_->streams(); }
  /// Number of streams opened so far, closed ones included.
  unsigned streams_begun() const { return server_->streams_begun(); }
  /// Ends the streams, so that kubelet forgets the devices before it gets a new list.
  void end_streams() { server_->end_streams(); }
  /// kubelet closes its connection once it has noticed the end of its stream.
  unsigned connections() const { return server_->connections(); }
  /// True when the newest list was sent to every stream.
  bool is_idle() const { return server_->is_idle(); }

 private:
  PluginServer() = default;
  std::unique_ptr<GrpcServer> server_;
};

}  // namespace slipway::deviceplugin
