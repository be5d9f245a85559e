// SPDX-License-Identifier: Apache-2.0
// app/edits.hpp - the edits of others that are kept: of what is owned, and of a plan.
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

/// Of all that a component owns. What cannot be looked at is left out.
/// @param accepted  the component's part of the generation's
std::vector<KeptEdit> kept_edits(Session& session, const Ownership& owned, const Json& accepted);

/// The paths of a plan's.
std::vector<std::string> kept_paths(const PlannedRun& run);

/// "1 edit", "3 edits".
std::string edits_text(std::size_t count);

/// @param paths  of --replace-edits. Errors: `not_found` one has no edit that is kept.
Status check_replaced(const std::optional<std::vector<std::string>>& paths, const PlannedRun& run);

}  // namespace slipway::core
