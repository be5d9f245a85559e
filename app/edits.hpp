// SPDX-License-Identifier: Apache-2.0
// app/edits.hpp - the users' kept edits: of owned things, and in a plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/engine/plan/edits.hpp"

namespace slipway::app {

struct KeptEdit {
  Action action;
  core::Edit edit;
};

/// Returns the kept edits of everything that a component owns. Skips things that cannot be read.
/// @param accepted  the component's part of the generation's `accepted`
std::vector<KeptEdit> kept_edits(core::Session& session, const core::Ownership& owned, const Json& accepted);

/// Returns the paths of a plan's kept edits.
std::vector<std::string> kept_paths(const core::PlannedRun& run);

/// "1 edit", "3 edits".
std::string edits_text(std::size_t count);

/// @param paths  from --replace-edits. Errors: `not_found` one of them has no kept edit.
Status check_replaced(const std::optional<std::vector<std::string>>& paths, const core::PlannedRun& run);

}  // namespace slipway::app
