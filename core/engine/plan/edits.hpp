// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/edits.hpp - what becomes of somebody's edit of what slipway left: it is kept, unless it was
// accepted, is to be replaced, or comes back with a rollback.
#pragma once

#include "core/engine/plan/planner.hpp"

namespace slipway::core {

/// People name the file, or a link to it.
bool is_about(const std::string& path, const Action& action, const Edit& edit);

/// " (mode 4755, uid 1000)" of a file that others than root may write to, or that runs with its owner's rights; else
/// empty. @param state  an edit's, or an image
std::string access_words(const Json& state);

/// What a generation's `accepted` holds of an item, {"of": digest of what the action asks for, "edit"}: it counts as
/// long as the same is asked for.
Json acceptance(const Action& action, const Edit& edit);

/// An edit that was accepted is what slipway left.
/// @param accepted  the component's part of a generation's `accepted`
void settle_accepted(Check& check, const Action& action, const Json& accepted);

/// The removal of an item takes an edit along that was accepted.
Status take_along(PlannedItem& removal, PlannedComponent& planned, ActionContext& context);

/// Settles what people decided about an edit of an owned item that was checked: it may become another change by that.
/// @param planned  its component; acceptances that count no longer go
Status decide(PlannedItem& item, const Owned& earlier, PlannedComponent& planned, const PlanOptions& options,
              ActionContext& context);

}  // namespace slipway::core
