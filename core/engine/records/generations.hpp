// SPDX-License-Identifier: Apache-2.0
// core/engine/records/generations.hpp - records what was applied, so that it can be applied again.
//
// A generation has an applied entry for each component. A component that failed keeps its previous entry. A component
// that no apply has planned or installed yet has no entry: neither a boot nor a rollback touches it. The changes
// committed by an apply that was interrupted before it wrote its generation are in the journal, and count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

/// Returns the active generation, including what an interrupted apply has committed since; empty when nothing is
/// applied.
/// @param journal  the journal when it is already open; else it is read if this user may
Result<std::optional<Generation>> applied_now(Session& session, Journal* journal = nullptr);

/// Returns a spec of the components in a generation, to apply the same again.
Result<HostSpec> spec_of(const Generation& generation, const Plugins& plugins);

/// Returns the generation's components whose installed plugin is a different version or build from the one that applied
/// them: "acme 0.1.0 (0.2.0 is installed)". Components without a plugin are in HostSpec::unusable.
/// @param only  components to compare; empty: all
Result<std::vector<std::string>> applied_by_other_plugins(Session& session, const Generation& generation,
                                                          const std::vector<std::string>& only);

/// Returns the name of a spec file as the root records it. For an image only the file's name, so that the record does
/// not reveal the folder or the user that built it.
std::string kept_spec_file(const Session& session, const std::string& file);

/// Returns the applied entry of a component of the run, for the journal and the generation.
Result<Json> applied_entry(Session& session, const PlannedRun& run, const std::string& component);

/// The data, besides the run, that its generation depends on.
struct Recording {
  std::optional<Generation> base = {};       ///< applied_now() before the run changed anything
  int target = 0;                            ///< the generation that a rollback returns to; 0: this is not a rollback
  std::vector<std::string> going_back = {};  ///< changed components that return to their entry in the base
};

/// True when the run results in a different generation (spec, lock, plugins, kernels) from the active one.
bool generation_is_new(Session& session, const Recording& recording, const PlannedRun& run);

/// Records the applied state as the active generation, unless it already is. A rollback that restored its target
/// exactly makes the target active again. When nothing is applied, no generation is active.
/// @return its number, 0 if not found
Result<int> record_generation(Session& session, const Recording& recording, const PlannedRun& run, Journal& journal);

}  // namespace slipway::core
