// SPDX-License-Identifier: Apache-2.0
#include "core/engine/apply/apply.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "core/engine/advice.hpp"
#include "core/engine/apply/apply_run.hpp"
#include "core/engine/apply/recovery.hpp"
#include "core/engine/model/relations.hpp"
#include "core/engine/records/generations.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/records/unproven_change.hpp"
#include "core/engine/root_lock.hpp"
#include "core/engine/stop.hpp"
#include "core/engine/unit/units.hpp"

namespace slipway::core {
namespace {

Status open_journal_now(ApplyRun& apply) {
  if (apply.journal) return {};
  SLIPWAY_TRY(recovered, open_and_recover(apply.session));
  apply.journal = std::move(recovered.journal);
  std::ranges::copy(recovered.report, std::back_inserter(apply.result.report));
  return {};
}

Status recover(ApplyRun& apply, const HostSpec& spec) {
  if (!apply.result.run.recovery && !journal_exists(apply.session)) return {};
  SLIPWAY_CHECK(open_journal_now(apply));
  apply.cut_off = true;
  SLIPWAY_TRY(again, plan_run(apply.session, spec, apply.options.plan, apply.journal.get()));
  apply.result.run = std::move(again);
  return {};
}

/// Ends an apply without changes. Components that failed before are checked again.
Status keep_generation(ApplyRun& apply) {
  look_at_failing(apply);
  SLIPWAY_CHECK(remember_failing(apply));
  SLIPWAY_TRY(current, apply.session.state().current());
  apply.result.generation = current ? current->number : 0;
  return {};
}

/// While it exists, the lock's note describes the current work to other processes.
class LockNote {
 public:
  LockNote(Ui& ui, const RootLock& lock) : ui_(ui) {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    std::array<char, 48> begin{};
    std::strftime(begin.data(), begin.size(), "under way since %H:%M:%S UTC", ::gmtime_r(&now, &utc));
    lock.note(begin.data());
    ui_.set_watcher(
        [&lock, begin = std::string(begin.data())](const std::string& line) { lock.note(begin + "; " + line); });
  }
  LockNote(const LockNote&) = delete;
  LockNote& operator=(const LockNote&) = delete;
  ~LockNote() { ui_.set_watcher({}); }

 private:
  Ui& ui_;
};

/// True when every change belongs to a component that has already failed, so that the root stays as it is.
bool nothing_can_be_done(const PlannedRun& run) {
  return !run.recovery && run.pending.empty() && run.failed() &&
         std::ranges::none_of(run.components, [](const PlannedComponent& component) {
           return component.name != kBootComponent && !component.error && !component.awaits_source &&
                  (component.changes() || component.leaving);
         });
}

}  // namespace

Status run_apply(ApplyRun& apply, const HostSpec& spec) {
  Session& session = apply.session;
  PlannedRun& run = apply.result.run;
  SLIPWAY_TRY(planned, plan_run(session, spec, apply.options.plan));
  run = std::move(planned);
  SLIPWAY_CHECK(recover(apply, spec));
  if (apply.options.check) SLIPWAY_CHECK(apply.options.check(run));
  for (PlannedComponent& component : run.components) await_source(apply, component);
  SLIPWAY_TRY(base, applied_now(session, apply.journal.get()));
  apply.result.before = base ? base->number : 0;
  apply.recording = {std::move(base), apply.options.target, {}};
  apply.failing = run.failing;
  const bool is_new = generation_is_new(session, apply.recording, run);
  if (!apply.journal && !run.changes() && !is_new) {
    SLIPWAY_CHECK(session.state().leave());  // a crash may have kept the last removal from removing the folder
    if (session.state().exists()) SLIPWAY_CHECK(record_outputs(session, run));
    SLIPWAY_CHECK(drop_verified(session));
    return keep_generation(apply);
  }
  for (PlannedComponent& component : run.components) {  // all downloads, before anything is changed
    if (const Status fetched = fetch_layers(session, component); !fetched) fail(component, fetched.error());
    await_source(apply, component);
  }
  SLIPWAY_CHECK(check_not_stopped());
  if (!apply.journal && nothing_can_be_done(run) && !(is_new && session.state().exists())) {
    for (PlannedComponent& component : run.components)
      if (component.name == kBootComponent && component.changes()) block_boot_without_work(component);
    return keep_generation(apply);
  }
  SLIPWAY_CHECK(open_journal_now(apply));
  apply.result.changed = true;
  for (PlannedComponent& component : run.components) change_component(apply, component);
  complete_apply(apply);
  return {};
}

Result<ApplyResult> apply_run(Session& session, const HostSpec& spec, const ApplyOptions& options) {
  SLIPWAY_TRY(lock, RootLock::take(session.host_config().root, session.host_config().live));
  const LockNote lock_note(session.ui(), lock);
  SLIPWAY_CHECK(session.state().keep_private());
  ApplyResult result;
  ApplyRun apply{session, options, result};
  if (const Status ran = run_apply(apply, spec); !ran) return advised(ran.error(), session.options());
  if (!apply.recording.going_back.empty() && !result.error) {
    if (const Status back = go_back(apply); !back) result.error = back.error();
  } else if (const Status back = go_back_at_boot(apply); !back) {
    result.error = back.error();
  }
  for (PlannedComponent& component : result.run.components)
    if (component.error) component.error = advised(std::move(*component.error), session.options());
  if (result.error) result.error = advised(std::move(*result.error), session.options());
  return result;
}

}  // namespace slipway::core
