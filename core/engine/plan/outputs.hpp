// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/outputs.hpp - the typed outputs that components hand to those that come after them.
#pragma once

#include "core/engine/plan/planned.hpp"
#include "core/engine/session.hpp"
#include "core/loader/manifest.hpp"

namespace slipway::core {

/// {COMPONENT: {NAME: value}} of every component that is planned before `name`; of one that this run leaves out, what
/// it gave when it was applied.
Json outputs_before(const PlannedRun& run, const std::string& name);

/// Writes down what components give that needed no change, so that a later `--only` can hand it on. Those that were
/// changed have it in their record already.
Status record_outputs(Session& session, const PlannedRun& run);

/// Errors: `plugin_defect` for an output that the manifest does not declare or of another type.
Status check_outputs(const Manifest& manifest, const Json& outputs);

}  // namespace slipway::core
