// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/recovery.hpp - how what an apply that was cut off has left behind is put right.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

/// Opens the root's journal. A cut-off apply's open steps are undone, newest first; the ownership of components that
/// were complete is written; what is pending stays pending.
/// @return the journal, and what was put right, a sentence each
struct Recovered {
  std::unique_ptr<Journal> journal;
  std::vector<std::string> report;
};
Result<Recovered> open_and_recover(Session& session);

}  // namespace slipway::core
