// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/recovery.hpp - cleans up after an apply that was interrupted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

/// Opens the root's journal. Undoes the open steps of an interrupted apply, newest first; records the ownership of
/// components that were complete; keeps pending triggers pending.
/// @return the journal, and a sentence for each thing that was cleaned up
struct Recovered {
  std::unique_ptr<Journal> journal;
  std::vector<std::string> report;
};
Result<Recovered> open_and_recover(Session& session);

}  // namespace slipway::core
