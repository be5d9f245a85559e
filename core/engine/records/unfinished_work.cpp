// SPDX-License-Identifier: Apache-2.0
#include "core/engine/records/unfinished_work.hpp"

#include <unistd.h>

#include "core/engine/root_lock.hpp"

namespace slipway::core {
namespace {

Result<Unfinished> read_journal(const StateDir& state) {
  SLIPWAY_CHECK(state.check_journal());
  SLIPWAY_TRY(journal, look_at_journal(state.journal_path()));
  return journal ? unfinished_of(*journal) : Unfinished{};
}

}  // namespace

bool journal_exists(Session& session) { return ::access(session.state().journal_path().c_str(), F_OK) == 0; }

Result<Unfinished> read_unfinished(Session& session) {
  Unfinished found;
  found.at_work = RootLock::other_at_work(session.host_config().root, session.host_config().live);
  if (!found.at_work.empty() || !journal_exists(session)) return found;
  if (::access(session.state().journal_path().c_str(), R_OK | W_OK) != 0) {  // this user may not write
    found.recovery = true;
    return found;
  }
  auto read = read_journal(session.state());
  if (read || (read.error().code != ErrorCode::corrupt && read.error().code != ErrorCode::invalid)) return read;
  found.damaged = read.error();
  return found;
}

Result<Unfinished> unfinished_of(Journal& journal) {
  SLIPWAY_TRY(steps, journal.open_steps());
  SLIPWAY_TRY(unwritten, journal.unwritten());
  SLIPWAY_TRY(pending, journal.pending());
  return Unfinished{!steps.empty() || !unwritten.empty(), pending, {}};
}

Status write_down_committed(Session& session, Journal& journal) {
  SLIPWAY_TRY(unwritten, journal.unwritten());
  if (unwritten.empty()) return {};
  for (const Ownership& ownership : unwritten) {
    SLIPWAY_CHECK(ownership.items.empty() ? session.state().forget(ownership.component)
                                          : session.state().write(ownership));
  }
  SLIPWAY_CHECK(session.root().sync());
  for (const Ownership& ownership : unwritten) SLIPWAY_CHECK(journal.written(ownership.component));
  return {};
}

}  // namespace slipway::core
