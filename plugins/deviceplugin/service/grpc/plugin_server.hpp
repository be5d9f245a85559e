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
#include "deviceplugin/allocation/preferred.hpp"

namespace slipway::deviceplugin {

/// A device as kubelet lists it.
struct Listed {
  std::string id;
  bool healthy = true;
  std::optional<int> numa_node;
  bool operator==(const Listed&) const = default;
};
using DeviceList = std::shared_ptr<const std::vector<Listed>>;

/// What the server asks, from any of its threads.
struct PluginCalls {
  std::function<Result<Grant>(const std::vector<std::string>& ids)> allocate;
  std::function<std::vector<std::string>(const PreferredRequest& request)> prefer;
};

/// Starts gRPC's threads, which the first server would wait for, and ends them with the last server.
class GrpcThreads {
 public:
  GrpcThreads();
  ~GrpcThreads();
  GrpcThreads(const GrpcThreads&) = delete;
  GrpcThreads& operator=(const GrpcThreads&) = delete;
};

/// The messages of ListAndWatch are made once for all streams, and the memory of a list is shared.
class PluginServer {
 public:
  /// Listens; whatever file was at the path is replaced. The list is sent to each stream as it opens.
  /// Errors: `io` it cannot listen there.
  static Result<std::unique_ptr<PluginServer>> start(const std::string& socket, PluginCalls calls, DeviceList list);
  virtual ~PluginServer() = default;  ///< ends the streams, takes the socket away

  /// Sends a new list to all streams. A stream that is slow gets only the newest.
  virtual void show(DeviceList list) = 0;
  /// Streams that are open now; kubelet has one.
  virtual unsigned streams() const = 0;
  /// Ends them, so that kubelet forgets what it had, before it is told anew.
  virtual void end_streams() = 0;
};

/// Tells kubelet of a resource, whose socket must be served already: kubelet dials it before it answers.
/// Errors: `unreachable` nobody listens; `denied` kubelet refuses, with its words; `timed_out`.
Status register_with_kubelet(const std::string& kubelet_socket, const std::string& endpoint,
                             const std::string& resource);

}  // namespace slipway::deviceplugin
