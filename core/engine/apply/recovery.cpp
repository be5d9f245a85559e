// SPDX-License-Identifier: Apache-2.0
#include "core/engine/apply/recovery.hpp"

#include <algorithm>

#include "core/action/trigger/trigger.hpp"
#include "core/engine/packages/layers.hpp"
#include "core/engine/plan/planner.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/root_lock.hpp"

namespace slipway::core {
namespace {

/// Returns the contents known for the step's path: from before slipway, and of replaced edits. Empty when no record has
/// it.
std::vector<Image> known_images(const std::map<std::string, Ownership>& owned, const Step& step) {
  const Ownership* ownership = owned_by(step.component, owned);
  const Owned* earlier =
      ownership == nullptr ? nullptr : ownership->find(step.action.kind() + " " + step.action.target());
  std::vector<Image> images{earlier == nullptr ? Image{} : earlier->original};
  if (earlier != nullptr) images.insert(images.end(), earlier->replaced.begin(), earlier->replaced.end());
  return images;
}

/// @param report  receives a line when another program has changed the file since: that file stays as it is
Status undo_step(Session& session, const Step& step, const std::vector<Image>& known,
                 std::vector<std::string>& report) {
  ComponentLayers layers(session, step.component, {});
  ActionContext context = make_context(session, step.component, layers, {});
  SLIPWAY_TRY(kind, action_kind(step.action.kind()));
  SLIPWAY_CHECK(kind->unstage(step.action, context));
  bool edited = true;
  for (const Image& image : known) {
    SLIPWAY_TRY(unknown, kind->holds_an_edit(step.action, step.image, image, session.host()));
    edited = edited && unknown;
  }
  if (edited) report.push_back(kept_words(step.action));
  return edited ? Status{} : kind->restore(step.action, step.image, context);
}

/// Makes triggers that have run for the files of these steps pending again, for the restored files.
Status mark_triggers_pending(Journal& journal, const std::vector<Step>& steps) {
  std::vector<Trigger> triggers;
  for (const Step& step : steps) std::ranges::copy(triggers_of(step.action), std::back_inserter(triggers));
  std::vector<Step> none;
  return triggers.empty() ? Status{} : journal.intend(none, texts_of(triggers));
}

}  // namespace

Result<Recovered> open_and_recover(Session& session) {
  Recovered recovered;
  SLIPWAY_CHECK(session.state().prepare());
  SLIPWAY_CHECK(session.state().check_journal());
  SLIPWAY_TRY(journal, open_journal(session.state().journal_path()));
  SLIPWAY_TRY(steps, journal->open_steps());
  std::set<std::string> components;
  SLIPWAY_CHECK(mark_triggers_pending(*journal, steps));
  SLIPWAY_TRY(owned, session.state().ownerships());
  const base::ExclusiveUse::Scope exclusive(session.exclusive_use);
  for (const Step& step : steps) {
    SLIPWAY_CHECK(undo_step(session, step, known_images(owned, step), recovered.report));
    components.insert(step.component);
  }
  SLIPWAY_CHECK(write_down_committed(session, *journal));
  SLIPWAY_CHECK(session.root().sync());
  for (const std::string& component : components) {
    SLIPWAY_CHECK(journal->drop(component));
    recovered.report.push_back("an earlier apply was cut off in " + component + ": its changes were undone first");
  }
  recovered.journal = std::move(journal);
  return recovered;
}

}  // namespace slipway::core
