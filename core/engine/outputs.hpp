// SPDX-License-Identifier: Apache-2.0
// core/engine/outputs.hpp - the typed outputs that components hand to those that come after them.
#pragma once

#include "core/engine/planned.hpp"
#include "core/loader/manifest.hpp"

namespace slipway::core {

/// {COMPONENT: {NAME: value}} of every component planned so far.
Json outputs_so_far(const PlannedRun& run);

/// Errors: `plugin_defect` for an output that the manifest does not declare or of another type.
Status check_outputs(const Manifest& manifest, const Json& outputs);

}  // namespace slipway::core
