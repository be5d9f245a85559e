// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/registration_server.hpp - the other way to register: kubelet finds a socket in
// plugins_registry and asks what it is.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <slipway/result.hpp>

namespace slipway::deviceplugin {

/// What kubelet said; from gRPC's threads.
using RegistrationTold = std::function<void(bool registered, const std::string& error)>;

class RegistrationServer {
 public:
  /// @param endpoint  path of the plugin's own socket, as kubelet sees it. Errors: `io` it cannot listen
  static Result<std::unique_ptr<RegistrationServer>> start(const std::string& socket, const std::string& resource,
                                                           const std::string& endpoint, RegistrationTold told);
  virtual ~RegistrationServer() = default;  ///< takes the socket away: kubelet forgets the resource
};

}  // namespace slipway::deviceplugin
