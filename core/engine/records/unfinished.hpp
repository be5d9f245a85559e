// SPDX-License-Identifier: Apache-2.0
// core/engine/records/unfinished.hpp - what an apply that was cut off has left behind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/engine/session.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

struct Unfinished {
  bool recovery = false;             ///< steps to undo
  std::vector<std::string> pending;  ///< triggers to run
  std::string at_work;  ///< another slipway that changes this root now: what it has open is not left behind
  std::optional<Error> damaged = {};  ///< the journal cannot be read, so that nobody knows
};

/// An apply was cut off, if only at its very end.
bool journal_exists(Session& session);

/// Looks for a journal; changes nothing.
Result<Unfinished> read_unfinished(Session& session);
/// The same of a journal that is open already.
Result<Unfinished> unfinished_of(Journal& journal);

/// Writes the records of components that were committed and did not get that far. Errors: the journal keeps them.
Status write_down_committed(Session& session, Journal& journal);

}  // namespace slipway::core
