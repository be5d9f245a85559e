// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/generations.hpp - records what was applied, so that it can be applied anew, and removes what no
// generation needs any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/plan/planned.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// The run amounts to another (spec, lock, plugins, kernel) than the generation in force.
bool generation_is_new(Session& session, const PlannedRun& run);

/// Writes the run as the generation in force, unless it already is. A run without components leaves none.
/// @return its number, 0 when there is none
Result<int> record_generation(Session& session, const PlannedRun& run);

/// How many generations stay, for `slipway rollback`; the one in force always does.
inline constexpr std::size_t kGenerationsKept = 5;

struct Garbage {
  std::vector<int> generations;
  std::vector<std::string> paths;  ///< layers, sets and originals, inside the root
  std::uint64_t bytes = 0;         ///< in files below these
};

/// Looks for it; changes nothing. For the holder of the root's lock. Errors: `conflict` when an apply was cut off: what
/// it needs to be undone must stay.
Result<Garbage> find_garbage(Session& session);

/// Removes it.
Status remove_garbage(Session& session, const Garbage& garbage);

}  // namespace slipway::core
