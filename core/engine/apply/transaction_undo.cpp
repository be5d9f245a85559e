// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/action/trigger/trigger.hpp"
#include "core/engine/apply/transaction.hpp"
#include "core/engine/plan/planner.hpp"

namespace slipway::core {
namespace {

constexpr const char* kNotRestored = "not restored";

bool is_complete(const Error& cause) {
  return std::none_of(cause.details.begin(), cause.details.end(),
                      [](const auto& detail) { return detail.first == kNotRestored; });
}

}  // namespace

Status Transaction::restore_one(const PlannedItem& item, const Image& image, Error& cause) {
  ActionContext now = context(item);
  SLIPWAY_CHECK(item.kind->unstage(item.action, now));
  const Image& known = item.restored_generation.empty() ? item.original : item.replaced.at(item.restored_generation);
  SLIPWAY_TRY(edited, item.kind->holds_an_edit(item.action, image, known, session_.host()));
  if (!edited) return item.kind->restore(item.action, image, now);
  cause.details.emplace_back("kept", kept_words(item.action));
  return {};
}

void Transaction::restore_all(Error& cause) {
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const PlannedItem& item = *changing_[i];
    const Status undone = restore_one(item, steps_[i].image, cause);
    if (!undone) cause.details.emplace_back(kNotRestored, item.key() + ": " + undone.error().what);
  }
}

/// Runs triggers again for files that were removed again, at once where modules and units need them. A trigger that has
/// not run yet is no longer needed.
void Transaction::settle_triggers(Error& cause) {
  for (const Trigger& trigger : pending_triggers()) {
    const std::string text = trigger.text();
    if (std::ranges::count(pending_before_, text) > 0) {
      std::vector<Step> none;
      if (ran_.contains(trigger) && !journal_.intend(none, {text})) return;
      continue;
    }
    Status settled;
    if (ran_.contains(trigger)) {
      session_.ui().step({planned_.name, "undo"}, text);
      ActionContext now = make_context(session_, planned_.name, layers_, {});
      if (const auto ran = trigger.run(now); !ran) settled = ran.error();
    }
    if (settled) settled = journal_.done(text);
    if (!settled) cause.details.emplace_back(kNotRestored, text + ": " + settled.error().what);
  }
}

void Transaction::reinstate_all(Error& cause) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const PlannedItem& item = *changing_[i];
    ActionContext now = context(item);
    if (const Status again = item.kind->reinstate(item.action, steps_[i].image, now); !again)
      cause.details.emplace_back(kNotRestored, item.key() + ": " + again.error().what);
  }
}

/// Ends a change that was put off before anything was switched.
Result<Outcome> Transaction::leave_as_it_is() {
  Error cause{.code = ErrorCode::conflict, .what = outcome_.reason};
  for (const PlannedItem* item : changing_) {
    ActionContext now = context(*item);
    if (const Status left = item->kind->unstage(item->action, now); !left)
      cause.details.emplace_back(kNotRestored, item->key() + ": " + left.error().what);
  }
  settle_triggers(cause);
  for (std::size_t i = 0; i < changing_.size(); ++i) {
    const PlannedItem& item = *changing_[i];
    if (item.removal || !item.kind->is_before_switch(item.action)) continue;
    ActionContext now = context(item);
    if (const Status again = item.kind->reinstate(item.action, steps_[i].image, now); !again)
      cause.details.emplace_back(kNotRestored, item.key() + ": " + again.error().what);
  }
  if (!is_complete(cause)) return cause;
  SLIPWAY_CHECK(journal_.drop(planned_.name));
  return outcome_;
}

Error Transaction::undo(Error cause) {
  session_.ui().step({planned_.name, "undo"}, "undoing what was done");
  restore_all(cause);
  if (const Status synced = session_.root().sync(); !synced) return cause;
  // Steps that could not be undone stay in the journal: the next apply tries again.
  if (!is_complete(cause)) return cause;
  settle_triggers(cause);
  reinstate_all(cause);
  if (!is_complete(cause)) return cause;
  if (const Status dropped = journal_.drop(planned_.name); !dropped)
    cause.details.emplace_back("journal", dropped.error().what);
  return cause;
}

}  // namespace slipway::core
