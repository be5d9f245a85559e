// SPDX-License-Identifier: Apache-2.0
// core/engine/records/generations.hpp - records what was applied, so that it can be applied anew.
//
// A generation says of each component what it is applied as. A component that failed keeps what it had; one that no
// apply has looked at, or brought about, yet is left out: neither a boot nor a rollback touches it. What was committed
// by an apply that was cut off before it came to its generation stands in the journal, and counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

/// The generation in force, with what a cut-off apply has committed since; nothing where nothing is applied.
/// @param journal  where it is open already; else it is looked at, if this user may
Result<std::optional<Generation>> applied_now(Session& session, Journal* journal = nullptr);

/// A spec of the components that a generation has applied, for an apply of the same.
Result<HostSpec> spec_of(const Generation& generation, const Plugins& plugins);

/// The generation's components whose installed plugin is another version or build than the one that applied them:
/// "acme 0.1.0 (0.2.0 is installed)". Those without a plugin are HostSpec::unusable.
/// @param only  components to look at; empty: all
Result<std::vector<std::string>> applied_by_other_plugins(Session& session, const Generation& generation,
                                                          const std::vector<std::string>& only);

/// Where a spec came from, as the root keeps it: of an image the file's name alone, which does not tell from which
/// folder of which user it was built.
std::string kept_spec_file(const Session& session, const std::string& file);

/// What the component of the run is applied as, for the journal and the generation.
Result<Json> applied_entry(Session& session, const PlannedRun& run, const std::string& component);

/// What a run's generation depends on besides.
struct Recording {
  std::optional<Generation> base = {};       ///< applied_now() before the run changed anything
  int target = 0;                            ///< the generation that a rollback goes to; 0: it is none
  std::vector<std::string> going_back = {};  ///< components that are changed and get back what the base has
};

/// The run amounts to another generation (spec, lock, plugins, kernels) than the one in force.
bool generation_is_new(Session& session, const Recording& recording, const PlannedRun& run);

/// Writes what is applied now as the generation in force, unless it already is. A rollback that came to what its target
/// was makes that one the one in force again. Where nothing is applied none is.
/// @return its number, 0 when there is none
Result<int> record_generation(Session& session, const Recording& recording, const PlannedRun& run, Journal& journal);

}  // namespace slipway::core
