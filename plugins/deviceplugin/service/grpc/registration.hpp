// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/registration.hpp - the two ways to register a resource at kubelet: at its socket,
// or by a socket in plugins_registry, which kubelet finds.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include <slipway/result.hpp>

#include "deviceplugin/service/grpc/server.hpp"

namespace slipway::deviceplugin {

/// The resource's socket must be served already: kubelet dials it before it answers. Limit: 10 s, or until a stop.
/// @param kubelet_socket  a path inside the root
/// @param endpoint        the name of the resource's socket, which is beside kubelet's
/// Errors: `unreachable` no process listens there; `denied` kubelet refuses, with its text; `timed_out` it does not
/// answer in time; others: the connection broke.
Status register_with_kubelet(const RootDir& root, const std::string& kubelet_socket, const std::string& endpoint,
                             const std::string& resource, const std::stop_token& stop);

/// Receives kubelet's result; called on the server's thread.
using RegistrationTold = std::function<void(bool registered, const std::string& error)>;

/// The socket where kubelet asks for the plugin's identity.
class RegistrationServer {
 public:
  /// @param socket    a path inside the root
  /// @param endpoint  path of the plugin's own socket, as kubelet sees it
  /// Errors: those of the file system, with the path.
  static Result<std::unique_ptr<RegistrationServer>> start(GrpcThread& thread, const RootDir& root,
                                                           const std::string& socket, const std::string& resource,
                                                           const std::string& endpoint, RegistrationTold told);
  const FileId& file() const { return server_->file(); }

 private:
  RegistrationServer() = default;
  std::unique_ptr<GrpcServer> server_;  ///< removes the socket: kubelet forgets the resource
};

}  // namespace slipway::deviceplugin
