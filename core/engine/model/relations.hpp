// SPDX-License-Identifier: Apache-2.0
// core/engine/model/relations.hpp - relations between components: two claims on the same thing, and typed outputs that
// later components use.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"
#include "core/loader/manifest.hpp"

namespace slipway::core {

/// Fails every component of the run that claims a thing claimed by another component of the run, or held by a component
/// without a known plan: one outside the run (`--only`), or one that failed. Paths are resolved through the root's
/// links and those in the plans: /lib/x and /usr/lib/x are the same where /lib is a link to usr/lib. A component that
/// already holds the thing from an earlier apply keeps it; only the other one fails then.
/// @param owned  the records of earlier applies
void find_clashes(PlannedRun& run, const std::map<std::string, Ownership>& owned, const Session& session);

/// The same for one component that is planned in its turn: compared with all others of the run.
std::optional<Error> clash_of(const PlannedComponent& planned, const PlannedRun& run,
                              const std::map<std::string, Ownership>& owned, const Session& session);

/// Returns {COMPONENT: {NAME: value}} of every component that is planned before `name`. For a component outside this
/// run, its outputs from its last apply.
Json outputs_before(const PlannedRun& run, const std::string& name);

/// Records the outputs of unchanged components, so that a later `--only` can use them. The record of a changed
/// component has them already.
Status record_outputs(Session& session, const PlannedRun& run);

/// Errors: `plugin_defect` for an output that the manifest does not declare or of another type.
Status check_outputs(const Manifest& manifest, const Json& outputs);

}  // namespace slipway::core
