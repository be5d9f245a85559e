// SPDX-License-Identifier: Apache-2.0
// core/action/run_build.cpp - holds the place of the build runner until it lands; goes with it.
#include "core/action/build.hpp"

namespace slipway::core {

Status run_build(const BuildRequest& request) {
  return Error{ErrorCode::unsupported, "this slipway cannot compile yet: " + request.build.value("name", ""), {}, {}, {}};
}

}  // namespace slipway::core
