// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/owed.hpp - pays the triggers that are owed at the end of an apply, and takes their products away
// again.
#pragma once

#include <string>
#include <vector>

#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

/// Pays everything owed, in the order in which it was owed. What was skipped is named in `report`. A product of a
/// trigger that no component names any more, and that was not there before, goes. Errors: the first trigger that
/// failed; it stays owed, and the next apply tries again.
Status pay_owed(Session& session, Journal& journal, std::vector<std::string>& report);

}  // namespace slipway::core
