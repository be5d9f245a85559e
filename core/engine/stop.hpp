// SPDX-License-Identifier: Apache-2.0
// core/engine/stop.hpp - SIGINT and SIGTERM: the first asks the engine to finish the action and undo, the second ends
// it.
#pragma once

#include <slipway/result.hpp>

namespace slipway::core {

/// Installs the handlers. A second signal ends the process at once; the journal recovers.
void watch_stop_signals();

/// A signal came. Errors: `cancelled`, for SLIPWAY_CHECK between two actions.
Status stop_requested();

}  // namespace slipway::core
