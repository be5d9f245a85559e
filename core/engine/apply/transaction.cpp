// SPDX-License-Identifier: Apache-2.0
#include "core/engine/apply/transaction.hpp"

#include <algorithm>

#include "core/action/store/store.hpp"
#include "core/action/systemd/systemd.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/engine/plan/planner.hpp"
#include "core/engine/stop.hpp"

namespace slipway::core {
namespace {

bool is_put_off(const Outcome& outcome) {
  return outcome.kind == Outcome::Kind::waiting || outcome.kind == Outcome::Kind::reboot_required;
}

bool is_before_switch(const PlannedItem& item) { return !item.removal && item.kind->is_before_switch(item.action); }

bool has(const std::vector<std::string>& texts, const Trigger& trigger) {
  return std::ranges::count(texts, trigger.text()) > 0;
}

/// Returns the action as it is recorded in the root: two equal roots must not differ because one run had a lock.
Action kept_action(const Action& action) {
  Json kept = action.json();
  if (const auto layers = kept.find("layers"); layers != kept.end() && layers->is_array())
    for (Json& layer : *layers) layer.erase("pinned");
  return Action(std::move(kept));
}

}  // namespace

bool Transaction::is_put_off() const { return core::is_put_off(outcome_); }

Transaction::Transaction(Session& session, Journal& journal, PlannedComponent& planned, int order,
                         std::map<std::string, Json> sources)
    : session_(session),
      journal_(journal),
      planned_(planned),
      order_(order),
      layers_(session, planned.name, std::move(sources)) {
  for (PlannedItem& item : planned_.items) {
    item.former = item.original;
    if (item.changes()) changing_.push_back(&item);
  }
}

ActionContext Transaction::context(const PlannedItem& item) {
  return make_context(session_, planned_.name, layers_, item.record, item.former);
}

std::vector<Trigger> Transaction::pending_triggers() const {
  std::vector<Trigger> triggers;
  for (const PlannedItem* item : changing_)
    for (const Trigger& trigger : triggers_of(item->action))
      if (std::ranges::count(triggers, trigger) == 0) triggers.push_back(trigger);
  return triggers;
}

Result<std::set<std::string>> Transaction::find_made_folders() {
  SLIPWAY_TRY(ownerships, session_.state().ownerships());
  SLIPWAY_TRY(products, session_.state().products());
  return made_folders(ownerships, products);
}

/// Returns the item's state before its change.
Result<Image> Transaction::capture(const PlannedItem& item, const std::set<std::string>& made) {
  ActionContext now = context(item);
  SLIPWAY_TRY(image, item.kind->capture(item.action, now));
  add_made_parents(image, item, made);
  return image;
}

Status Transaction::intend() {
  SLIPWAY_TRY(made, find_made_folders());
  SLIPWAY_TRY(current, session_.state().current());
  in_force_ = std::to_string(current ? current->number : 0);
  for (PlannedItem* item : changing_) {
    SLIPWAY_TRY(image, capture(*item, made));
    steps_.push_back({0, planned_.name, item->action, image, item->removal, false});
    if (item->replaces) item->replaced[in_force_] = image;
    if (item->removal && !item->original.is_null()) continue;
    item->original = item->original.is_null() ? image : item->kind->join(item->original, image);
  }
  const auto triggers = pending_triggers();
  SLIPWAY_TRY(pending, journal_.pending());
  pending_before_ = pending;
  SLIPWAY_CHECK(capture_products(triggers, made));
  SLIPWAY_CHECK(session_.root().sync());  // the originals must be on the disk before the journal names them
  return journal_.intend(steps_, texts_of(triggers));
}

Status Transaction::capture_products(const std::vector<Trigger>& triggers, const std::set<std::string>& made) {
  SLIPWAY_TRY(products, session_.state().products());
  const std::size_t before = products.size();
  // Stores that will be removed are recorded like products: this apply drops them at its end, or the next one after a
  // crash.
  for (const PlannedItem* item : changing_)
    if (const std::string store = item->kind->store(item->action); item->removal && !store.empty())
      products[store_folder(store)] = {"", store, item->original};
  for (const Trigger& trigger : triggers) {
    for (const std::string& path : trigger.products(session_.host())) {
      if (products.contains(path)) continue;
      SLIPWAY_TRY(image, session_.root().capture(path));
      if (!is_absent(image)) continue;
      add_made_parents(image, path, made);
      products[path] = {trigger.text(), "", image};
    }
  }
  return products.size() == before ? Status{} : session_.state().write_products(products);
}

Status Transaction::stage() {
  for (PlannedItem* item : changing_) {
    SLIPWAY_CHECK(check_not_stopped());
    if (item->removal || !item->restored_generation.empty()) continue;
    ActionContext now = context(*item);
    SLIPWAY_CHECK(item->kind->stage(item->action, now));
  }
  return session_.root().sync();
}

/// Asks whether the actions that come before the switch may begin. @return `done`, or the outcome that puts the change
/// off
Result<Outcome> Transaction::admit() {
  for (const PlannedItem* item : changing_) {
    if (!is_before_switch(*item)) continue;
    ActionContext now = context(*item);
    SLIPWAY_TRY(outcome, item->kind->admit(item->action, now));
    if (core::is_put_off(outcome)) return outcome;
  }
  return Outcome::done();
}

/// Does the actions that come before the switch.
Status Transaction::make_way() {
  for (std::size_t i = 0; i < changing_.size(); ++i) {
    PlannedItem& item = *changing_[i];
    if (!is_before_switch(item)) continue;
    SLIPWAY_CHECK(check_not_stopped());
    session_.ui().step({planned_.name, "prepare"}, item.check.summary);
    ActionContext now = context(item);
    SLIPWAY_TRY(outcome, item.kind->perform(item.action, now));
    SLIPWAY_CHECK(journal_.done(steps_[i].id));
    if (core::is_put_off(outcome)) {
      outcome_ = outcome;
      return {};
    }
    if (!outcome.reason.empty()) session_.ui().log(Ui::Level::info, {planned_.name, "prepare"}, outcome.reason);
  }
  return {};
}

Status Transaction::take_away() {
  for (std::size_t i = 0; i < changing_.size(); ++i) {
    PlannedItem& item = *changing_[i];
    if (!item.removal) continue;
    SLIPWAY_CHECK(check_not_stopped());
    SLIPWAY_TRY(kept, keeps_an_edit(item, steps_[i].image));
    if (kept) continue;
    session_.ui().step({planned_.name, "switch"}, item.check.summary);
    ActionContext now = context(item);
    SLIPWAY_CHECK(item.kind->take_away(item.action, item.original, now));
    SLIPWAY_CHECK(journal_.done(steps_[i].id));
  }
  return {};
}

/// Returns the restarts that have to be done before this item. The component's own action relies on the restarts that
/// earlier items of the plan name, so that it can check whether the service is back while everything can still be
/// undone.
std::vector<Trigger> Transaction::restarts_before(const PlannedItem& item) const {
  std::vector<Trigger> restarts;
  if (item.removal || !item.kind->waits_for_restarts()) return restarts;
  for (const PlannedItem& other : planned_.items) {
    if (&other == &item) break;
    if (!other.changes()) continue;
    for (const Trigger& trigger : triggers_of(other.action))
      if (trigger.interrupts()) restarts.push_back(trigger);
  }
  return restarts;
}

/// Checks once more before a change: a file that was edited since the plan was made is kept, as if the plan had seen
/// it. Errors: `conflict` for a file that the plan was to replace with any content, and whose present content is not
/// recorded anywhere.
Result<bool> Transaction::keeps_an_edit(PlannedItem& item, const Image& image) {
  const ActionKind& kind = *item.kind;
  ActionContext now = context(item);
  bool kept = false;
  if (item.removal) {
    SLIPWAY_TRY(drifted, kind.drifted(item.action, now));
    kept = drifted;
  } else if (!item.record.is_null() && kind.phase() == ActionKind::Phase::switch_in) {
    SLIPWAY_TRY(again, kind.check(item.action, now));
    kept = again.standing == Check::Standing::drift_kept;
  } else if (item.record.is_null()) {
    SLIPWAY_TRY(edited, kind.holds_an_edit(item.action, image, item.original, session_.host()));
    if (edited)
      return Error{
          ErrorCode::conflict, kept_words(item.action), item.action.target(), "run the same command again", {}};
  }
  if (kept && item.replaces) {  // it was edited again after the plan was made
    item.record = item.record_before_edit;
    item.replaced.erase(in_force_);
    item.replaces.reset();
  }
  if (kept) item.restored_generation.clear();
  if (kept) keep(item);
  return kept;
}

void Transaction::keep(PlannedItem& item) {
  item.check.standing = Check::Standing::drift_kept;
  item.check.summary = "keep " + item.action.target() + ", which was edited after slipway wrote it";
  session_.ui().log(Ui::Level::warning, planned_.name, kept_words(item.action));
}

/// Returns the pending restart and reload of a unit that this item is about to start, since it will then read all files
/// anyway. Empty when the unit is already running.
Result<std::vector<Trigger>> Transaction::made_needless(const PlannedItem& item) const {
  const std::string unit = item.kind->starts(item.action);
  std::vector<Trigger> needless;
  if (unit.empty() || !has_systemd(session_.host())) return needless;
  SLIPWAY_TRY(pending, journal_.pending());
  for (const Trigger::Kind kind : {Trigger::Kind::restart, Trigger::Kind::reload})
    if (const Trigger trigger(kind, unit); has(pending, trigger)) needless.push_back(trigger);
  if (needless.empty()) return needless;
  SLIPWAY_TRY(state, unit_state(session_.host(), unit));
  // A unit that is starting may have read its files.
  const bool down = state.active == "inactive" || state.active == "failed";
  return down ? needless : std::vector<Trigger>();
}

Status Transaction::perform(ActionKind::Phase phase, bool late) {
  for (std::size_t i = 0; i < changing_.size(); ++i) {
    PlannedItem& item = *changing_[i];
    if (item.removal || item.kind->phase() != phase || is_before_switch(item)) continue;
    if (restarts_before(item).empty() == late) continue;
    SLIPWAY_CHECK(check_not_stopped());
    SLIPWAY_TRY(kept, keeps_an_edit(item, steps_[i].image));
    if (kept) continue;
    session_.ui().step({planned_.name, phase == ActionKind::Phase::switch_in ? "switch" : "activate"},
                       item.check.summary);
    ActionContext now = context(item);
    if (!item.restored_generation.empty()) {
      SLIPWAY_CHECK(item.kind->restore(item.action, item.replaced[item.restored_generation], now));
      SLIPWAY_CHECK(journal_.done(steps_[i].id));
      continue;
    }
    SLIPWAY_TRY(needless, made_needless(item));
    SLIPWAY_TRY(outcome, item.kind->perform(item.action, now));
    SLIPWAY_TRY(written, item.kind->written(item.action, now));
    if (!written.is_null()) item.record = written;  // later changes belong to the program that made them
    SLIPWAY_CHECK(journal_.done(steps_[i].id));
    for (const Trigger& trigger : needless) {
      SLIPWAY_CHECK(journal_.done(trigger.text()));
      ran_.insert(trigger);
    }
    if (outcome.kind != Outcome::Kind::waiting && outcome.kind != Outcome::Kind::reboot_required) {
      if (!outcome.reason.empty()) session_.ui().log(Ui::Level::info, {planned_.name, "activate"}, outcome.reason);
      continue;
    }
    outcome_ = outcome;
    return {};  // later items of the plan depend on it
  }
  return {};
}

/// Performs items that were satisfied when the plan was made and no longer are, after other items were activated: for
/// example the node of a driver that got another number when its module was replaced.
Status Transaction::activate_remaining(bool late) {
  if (is_put_off()) return {};
  SLIPWAY_TRY(made, find_made_folders());
  for (PlannedItem& item : planned_.items) {
    if (item.removal || item.changes() || item.kind->phase() != ActionKind::Phase::activate) continue;
    if (is_before_switch(item)) continue;
    if (planned_.recorded.contains(item.key())) continue;  // the component could not say whether it is needed
    if (restarts_before(item).empty() == late) continue;
    ActionContext now = context(item);
    SLIPWAY_TRY(check, item.kind->check(item.action, now));
    if (check.standing != Check::Standing::change) continue;
    SLIPWAY_TRY(image, capture(item, made));
    item.check = std::move(check);
    item.original = item.original.is_null() ? image : item.kind->join(item.original, image);
    std::vector<Step> step{{0, planned_.name, item.action, image, false, false}};
    SLIPWAY_CHECK(journal_.intend(step, {}));
    changing_.push_back(&item);
    steps_.push_back(std::move(step.front()));
    session_.ui().step({planned_.name, "activate"}, item.check.summary);
    SLIPWAY_TRY(outcome, item.kind->perform(item.action, now));
    SLIPWAY_CHECK(journal_.done(steps_.back().id));
    if (!outcome.reason.empty()) session_.ui().log(Ui::Level::info, {planned_.name, "activate"}, outcome.reason);
  }
  return {};
}

Status Transaction::run_before_activation() {
  // Offline nothing is activated.
  const bool activates =
      session_.host_config().live && std::any_of(changing_.begin(), changing_.end(), [](const PlannedItem* item) {
        return !item->removal && item->kind->phase() == ActionKind::Phase::activate;
      });
  SLIPWAY_TRY(pending, journal_.pending());
  for (const std::string& text : pending) {
    const Trigger trigger(text);
    // Files of later components belong to the users and groups of this component.
    if (trigger.kind != Trigger::Kind::sysusers && !(activates && trigger.precedes_activation())) continue;
    session_.ui().step({planned_.name, "activate"}, text);
    ActionContext now = make_context(session_, planned_.name, layers_, {});
    SLIPWAY_TRY(ran, trigger.run(now));
    ran_.insert(trigger);
    if (!ran.done) continue;                // a skipped trigger is reported at the end
    SLIPWAY_CHECK(session_.root().sync());  // tools write without a sync
    // Other components may name it again later in this apply; intend() then makes it pending again.
    SLIPWAY_CHECK(journal_.done(text));
  }
  return {};
}

/// Runs the restarts that an action of this component waits for; the others run at the end of the apply. A restart that
/// fails counts as tried: undo() runs it once more, for the restored files.
Status Transaction::run_restarts() {
  if (!session_.host_config().live) return {};
  SLIPWAY_TRY(pending, journal_.pending());
  for (const PlannedItem& item : planned_.items) {
    for (const Trigger& trigger : restarts_before(item)) {
      if (ran_.contains(trigger) || !has(pending, trigger)) continue;
      session_.ui().step({planned_.name, "activate"}, trigger.text());
      ran_.insert(trigger);
      ActionContext now = make_context(session_, planned_.name, layers_, {});
      SLIPWAY_TRY(ran, trigger.run(now));
      if (ran.done) SLIPWAY_CHECK(journal_.done(trigger.text()));  // a skipped trigger is reported at the end
    }
  }
  return {};
}

Status Transaction::activate() {
  SLIPWAY_CHECK(perform(ActionKind::Phase::activate));
  SLIPWAY_CHECK(activate_remaining(false));
  if (is_put_off()) return {};
  SLIPWAY_CHECK(run_restarts());
  SLIPWAY_CHECK(perform(ActionKind::Phase::activate, true));
  return activate_remaining(true);
}

Status Transaction::check_all() {
  for (PlannedItem* item : changing_) {
    if (item->removal || !item->restored_generation.empty() || item->check.standing == Check::Standing::drift_kept)
      continue;
    ActionContext now = context(*item);
    SLIPWAY_TRY(written, item->kind->written(item->action, now));
    if (written.is_null()) {
      SLIPWAY_TRY(record, item->kind->fingerprint(item->action, now));
      item->record = record;
      now.record = record;
    }
    if (is_put_off() || is_before_switch(*item)) continue;
    SLIPWAY_TRY(check, item->kind->check(item->action, now));
    if (check.standing == Check::Standing::drift_kept) {  // for keys and units, edits that were kept before stay kept
      if (!written.is_null()) keep(*item);
      continue;
    }
    if (check.standing == Check::Standing::satisfied || check.standing == Check::Standing::at_boot) continue;
    return Error{
        ErrorCode::plugin_defect,
        "the result of this action was lost right after it was done: " + item->key() + " (" + check.summary + ")",
        {},
        "check whether another program on this host changes it back; if none does, please report this",
        {}};
  }
  return {};
}

Result<Ownership> Transaction::ownership() {
  Ownership owned;
  owned.component = planned_.name;
  owned.order = order_;
  owned.outputs = planned_.plan.outputs();
  for (const PlannedItem& item : planned_.items) {
    if (item.removal || item.kind->is_step(item.action))
      continue;  // removed or left to the user; or a step, which is not recorded
    if (item.check.standing == Check::Standing::at_boot) continue;
    Image original = item.original;
    Json record = item.record;
    if (record.is_null()) {  // the thing was there before slipway: there is nothing to restore or to record
      ActionContext now = context(item);
      SLIPWAY_TRY(image, item.kind->capture(item.action, now));
      SLIPWAY_TRY(fingerprint, item.kind->fingerprint(item.action, now));
      original = planned_.lost ? item.kind->without_original(image) : image;
      record = fingerprint;
    }
    Json replaced = item.replaced;
    replaced.erase(item.restored_generation);
    owned.items.push_back({kept_action(item.action), original, record, replaced});
  }
  return owned;
}

Result<Ownership> Transaction::commit(const Json& applied) {
  SLIPWAY_TRY(owned, ownership());
  SLIPWAY_CHECK(session_.root().settle_directory_times());
  SLIPWAY_CHECK(session_.root().sync());
  SLIPWAY_CHECK(journal_.commit(owned, applied));
  return owned;
}

/// Records the component. From here on its change is committed and nothing is undone: after a failure the next run
/// completes it from the journal.
Status Transaction::write_down(const Ownership& owned) {
  SLIPWAY_CHECK(owned.items.empty() ? session_.state().forget(planned_.name) : session_.state().write(owned));
  SLIPWAY_CHECK(session_.root().sync());
  return journal_.written(planned_.name);
}

Result<Outcome> Transaction::run(const Json& applied) {
  SLIPWAY_TRY(admitted, admit());
  if (core::is_put_off(admitted)) return admitted;
  const auto prepare = [&]() -> Status {
    SLIPWAY_CHECK(stage());
    return make_way();
  };
  const auto all = [&]() -> Result<Ownership> {
    SLIPWAY_CHECK(take_away());
    SLIPWAY_CHECK(perform(ActionKind::Phase::switch_in));
    SLIPWAY_CHECK(session_.root().sync());
    SLIPWAY_CHECK(run_before_activation());
    SLIPWAY_CHECK(activate());
    SLIPWAY_CHECK(check_all());
    return commit(applied);
  };
  if (const Status intended = intend(); !intended) return intended.error();
  if (Status prepared = prepare(); !prepared) return undo(std::move(prepared).error());
  if (is_put_off()) return leave_as_it_is();
  auto owned = all();
  if (!owned) return undo(std::move(owned).error());
  SLIPWAY_CHECK(write_down(*owned));
  return outcome_;
}

}  // namespace slipway::core
