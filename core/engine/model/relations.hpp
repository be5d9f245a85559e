// SPDX-License-Identifier: Apache-2.0
// core/engine/model/relations.hpp - what components have to do with each other: the same thing wanted twice, and typed
// outputs for those that come after.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"
#include "core/loader/manifest.hpp"

namespace slipway::core {

/// Fails every component of the run that claims what another one claims, or what a component holds of which no plan is
/// known: one that the run does not look at (`--only`), or that failed. Paths are compared as the root's links, and
/// those that the plans make, lead to them: /lib/x and /usr/lib/x are one where /lib is a link to usr/lib. A component
/// that had the thing already, by an earlier apply, keeps it: then the other one alone fails.
/// @param owned  what was applied before
void find_clashes(PlannedRun& run, const std::map<std::string, Ownership>& owned, const Session& session);

/// The same for a component that was planned at its turn: against all others of the run.
std::optional<Error> clash_of(const PlannedComponent& planned, const PlannedRun& run,
                              const std::map<std::string, Ownership>& owned, const Session& session);

/// {COMPONENT: {NAME: value}} of every component that is planned before `name`; of one that this run leaves out, what
/// it gave when it was applied.
Json outputs_before(const PlannedRun& run, const std::string& name);

/// Writes down what components give that needed no change, so that a later `--only` can hand it on. Those that were
/// changed have it in their record already.
Status record_outputs(Session& session, const PlannedRun& run);

/// Errors: `plugin_defect` for an output that the manifest does not declare or of another type.
Status check_outputs(const Manifest& manifest, const Json& outputs);

}  // namespace slipway::core
