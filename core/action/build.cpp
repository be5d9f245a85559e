// SPDX-License-Identifier: Apache-2.0
#include "core/action/build.hpp"

#include "core/host/digest.hpp"

namespace slipway::core {

std::string build_key(const Json& build) { return digest_of(canonical(build)); }

}  // namespace slipway::core
