// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/pending.hpp - runs the triggers that are pending at the end of an apply, and removes files that
// only removed triggers made.
#pragma once

#include <string>
#include <vector>

#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

/// Runs all pending triggers, in the order in which they were first named. Adds skipped triggers to `report`. Deletes
/// the file of a trigger that no component names any more, unless the file existed before slipway. Errors: the first
/// trigger that failed; it stays pending, and the next apply tries again.
Status run_pending(Session& session, Journal& journal, std::vector<std::string>& report);

}  // namespace slipway::core
