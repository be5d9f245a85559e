// SPDX-License-Identifier: Apache-2.0
// app/edits.hpp - the users' kept edits: of owned things, and in a plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/engine/plan/edits.hpp"

namespace slipway::core {

struct KeptEdit {
  Action action;
  Edit edit;
};

/// Returns the kept edits of everything that a component owns. Skips things that cannot be read.
/// @param accepted  the component's part of the generation's `accepted`
std::vector<KeptEdit> kept_edits(Session& session, const Ownership& owned, const Json& accepted);

/// Returns the paths of a plan's kept edits.
std::vector<std::string> kept_paths(const PlannedRun& run);

/// "1 edit", "3 edits".
std::string edits_text(std::size_t count);

/// @param paths  from --replace-edits. Errors: `not_found` one of them has no kept edit.
Status check_replaced(const std::optional<std::vector<std::string>>& paths, const PlannedRun& run);

}  // namespace slipway::core
