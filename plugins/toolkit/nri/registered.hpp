// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/registered.hpp - the texts with which the service reports that the engine has registered the
// plugin.
#pragma once

namespace slipway::nri {

/// The service's status begins with this text once it is registered.
inline constexpr const char* kRegistered = "registered with ";

}  // namespace slipway::nri
