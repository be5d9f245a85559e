// SPDX-License-Identifier: Apache-2.0
// core/engine/records/unfinished_work.hpp - the work that an interrupted apply left.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

struct Unfinished {
  bool recovery = false;              ///< steps to undo
  std::vector<std::string> pending;   ///< triggers to run
  std::string at_work;                ///< another slipway that changes this root now; its open steps are not leftovers
  std::optional<Error> damaged = {};  ///< the journal cannot be read, so the state is unknown
};

/// True when an apply was interrupted, even at its very end.
bool journal_exists(Session& session);

/// Looks for a journal; changes nothing.
Result<Unfinished> read_unfinished(Session& session);
/// The same for an open journal.
Result<Unfinished> unfinished_of(Journal& journal);

/// Writes the records of components that were committed but not recorded yet. Errors: those of writing; the journal
/// then keeps them.
Status write_down_committed(Session& session, Journal& journal);

}  // namespace slipway::core
