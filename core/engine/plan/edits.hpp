// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/edits.hpp - decides about a user's edit of something slipway wrote: it is kept, unless the user
// accepted it, asked to replace it, or a rollback restores it.
#pragma once

#include "core/engine/plan/planner.hpp"

namespace slipway::core {

/// True when `path`, which users give as the file or as a link to it, means the file that was edited.
bool is_about(const std::string& path, const Action& action, const Edit& edit);

/// Describes unusual access, " (mode 4755, uid 1000)", of a file that users other than root may write, or that runs
/// with its owner's rights; else empty.
/// @param state  the state of an edit, or an image
std::string access_words(const Json& state);

/// Returns the entry for an item in a generation's `accepted`: {"of": digest of the action's desired state, "edit"}. It
/// is valid as long as the desired state is the same.
Json acceptance(const Action& action, const Edit& edit);

/// Treats an accepted edit as slipway's own work.
/// @param accepted  the component's part of a generation's `accepted`
void settle_accepted(Check& check, const Action& action, const Json& accepted);

/// Makes the removal of an item remove the accepted edit as well.
Status adopt_accepted_edit(PlannedItem& removal, PlannedComponent& planned, ActionContext& context);

/// Applies the user's decision about an edit of an owned item; the decision can turn the item into a different change.
/// @param planned  its component; acceptances that are no longer valid are deleted
Status decide(PlannedItem& item, const Owned& earlier, PlannedComponent& planned, const PlanOptions& options,
              ActionContext& context);

}  // namespace slipway::core
