// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/action/store/store.hpp"
#include "core/engine/apply/apply_run.hpp"
#include "core/engine/apply/pending.hpp"
#include "core/engine/model/relations.hpp"
#include "core/engine/records/generations.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/records/unproven_change.hpp"

namespace slipway::core {
namespace {

/// Ends the journal last: after an earlier interruption the next run continues.
Status end_journal(ApplyRun& apply) {
  RootFs& root = apply.session.root();
  SLIPWAY_CHECK(root.settle_directory_times());
  SLIPWAY_CHECK(root.sync());
  SLIPWAY_CHECK(apply.journal->finish());
  root.note_changed(kStateDir);
  SLIPWAY_CHECK(apply.session.state().leave());
  SLIPWAY_CHECK(root.settle_directory_times());
  return root.sync();
}

/// Removes layers that are no longer used: of former generations, of removed components, and of undone changes.
/// The layers that an unverified change has replaced stay.
Status drop_layers(ApplyRun& apply) {
  for (const PlannedComponent& component : apply.result.run.components)
    for (const PlannedItem& item : component.items)
      if (const std::string store = item.kind->store(item.action); !store.empty()) {
        SLIPWAY_TRY(kept, kept_sets(apply.session.state(), store));
        SLIPWAY_CHECK(drop_unused_layers(apply.session.root(), store, kept));
      }
  return {};
}

/// @param done  all pending triggers have run; otherwise the journal stays for the next run
Status close(ApplyRun& apply, bool done) {
  Session& session = apply.session;
  SLIPWAY_TRY(steps, apply.journal->open_steps());
  SLIPWAY_TRY(pending, apply.journal->pending());
  SLIPWAY_TRY(number, record_generation(session, apply.recording, apply.result.run, *apply.journal));
  apply.result.generation = number;
  SLIPWAY_CHECK(record_outputs(session, apply.result.run));
  SLIPWAY_CHECK(remember_failing(apply));
  SLIPWAY_CHECK(session.root().sync());
  // The steps that still have to be undone, and going back, may need every original and layer.
  if (!steps.empty()) return session.root().sync();
  if (apply.recording.going_back.empty()) {
    SLIPWAY_CHECK(settle_unproven(session, number));
    SLIPWAY_CHECK(drop_layers(apply));
    SLIPWAY_CHECK(session.state().tidy());
  }
  return done && pending.empty() ? end_journal(apply) : session.root().sync();
}

}  // namespace

void complete_apply(ApplyRun& apply) {
  // The records say which components name a trigger. If they cannot be written, no trigger is run; the next apply runs
  // it from the journal.
  if (Status written = write_down_committed(apply.session, *apply.journal); !written) {
    apply.result.error = std::move(written).error();
    return;
  }
  Status done = run_pending(apply.session, *apply.journal, apply.result.report);
  for (PlannedComponent& component : apply.result.run.components)
    if (component.state == ComponentState::changed) look_again(apply, component);
  find_components_to_restore(apply);
  look_at_failing(apply);
  Status closed = close(apply, done.ok());
  if (!done)
    apply.result.error = std::move(done).error();
  else if (!closed)
    apply.result.error = std::move(closed).error();
}

}  // namespace slipway::core
