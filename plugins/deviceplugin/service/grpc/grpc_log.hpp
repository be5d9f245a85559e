// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/grpc_log.hpp - what gRPC has to say, as lines of the service's log.
#pragma once

#include <functional>
#include <string>

namespace slipway::deviceplugin {

/// From now on gRPC's threads log here: errors as "warning", since the service goes on, else "info" and "debug", of
/// which there are none unless GRPC_VERBOSITY asks for them. Empty: to standard error, a plain line each.
void set_grpc_log(std::function<void(const char* level, const std::string& text)> log);

}  // namespace slipway::deviceplugin
