// SPDX-License-Identifier: Apache-2.0
// core/worker/client/locate.hpp - where the programs are that slipway consists of.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

/// Beside the running program (build tree), ../libexec/slipway/ or ../bin/ from there, else the compiled-in folder.
/// Errors: `not_found` with the places; `denied` when as root the found one may be written by others.
Result<std::string> own_program(const std::string& name);

/// slipway-worker: $SLIPWAY_WORKER when the environment is trusted or we are not root, else as own_program().
Result<std::string> worker_program(bool trust_environment);

}  // namespace slipway::core
