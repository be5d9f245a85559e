// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/registered.hpp - the words by which the service says that the engine has taken the plugin in.
#pragma once

namespace slipway::nri {

/// The service's status begins with this text once it is registered.
inline constexpr const char* kRegistered = "registered with ";

}  // namespace slipway::nri
