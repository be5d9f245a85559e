// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "app/edits.hpp"
#include "app/recorded_apply.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

/// The edits to accept, as a plan shows them, and the generation that records them.
struct Acceptance {
  core::PlannedRun run;
  core::Generation next;
};

bool owns(const core::Ownership& ownership, const std::string& path) {
  return std::ranges::any_of(ownership.items, [&](const core::Owned& item) {
    const auto kind = core::action_kind(item.action.kind());
    core::Image original = item.original;
    const auto paths = kind && original.is_object() ? (*kind)->paths(item.action, original)
                                                    : std::vector<std::pair<std::string, core::Image*>>{};
    return item.action.target() == path ||
           std::ranges::any_of(paths, [&](const auto& each) { return each.first == path; });
  });
}

Error nothing_to_accept(const std::string& path, bool owned, const std::vector<std::string>& known) {
  const std::string look = "`slipway plan` lists the kept edits";
  Error error{ErrorCode::not_found, path + " has no kept edit to accept", "command line", look, {}};
  if (owned) return error;
  error.what = "slipway does not own " + path;
  error.next = suggestion(path, known, look);
  return error;
}

/// Fails after an interrupted apply, whose recovery may restore other content.
Result<core::Generation> settled_generation(core::Session& session) {
  SLIPWAY_CHECK(session.state().check_format());
  const std::string at_work = core::RootLock::other_holder(session.host_config().root, session.host_config().live);
  if (core::journal_exists(session) && !at_work.empty())
    return Error{ErrorCode::locked,
                 "another slipway is changing this root",
                 session.host_config().root,
                 "wait until that slipway has ended, then run the same command again",
                 {{"held", at_work}}};
  if (core::journal_exists(session))
    return Error{ErrorCode::conflict,
                 "an apply of this root was cut off, so its edits cannot be accepted yet",
                 std::string(core::kStateDir),
                 "run `slipway apply`, which finishes or undoes that apply; then run the same command again",
                 {}};
  SLIPWAY_TRY(current, session.state().current());
  if (current) return *current;
  return Error{ErrorCode::not_found,
               "no generation is active in " + session.host_config().root + ", so nothing can be accepted",
               {},
               "look at `slipway status`, and let `slipway apply` finish",
               {}};
}

Result<Acceptance> plan_acceptance(core::Session& session, const std::vector<std::string>& paths) {
  SLIPWAY_TRY(current, settled_generation(session));
  SLIPWAY_TRY(owned, session.state().ownerships());
  Acceptance acceptance{{}, current};
  acceptance.run.spec.file = current.spec_file;
  SLIPWAY_TRY(numbers, session.state().generations());
  acceptance.next.number = numbers.back() + 1;
  acceptance.next.before = current.number;
  std::vector<std::string> found;
  std::vector<std::string> known;
  for (const auto& [name, ownership] : owned) {
    core::PlannedComponent component{.name = name, .state = core::ComponentState::changed};
    std::vector<std::string> names;
    for (const auto& [action, edit] :
         app::kept_edits(session, ownership, current.accepted.value(name, Json::object()))) {
      known.push_back(edit.path);
      bool is_named = false;
      for (const std::string& path : paths)
        if (core::is_about(path, action, edit)) {
          is_named = true;
          found.push_back(path);
        }
      if (!is_named) continue;
      SLIPWAY_TRY(kind, core::action_kind(action.kind()));
      component.items.push_back(
          {action,
           kind,
           false,
           {core::Check::Standing::change, "accept " + edit.path + " as it is" + core::access_words(edit.state)}});
      acceptance.next.accepted[name][component.items.back().key()] = core::acceptance(action, edit);
      names.push_back(edit.path);
    }
    if (component.items.empty()) continue;
    component.reason = "accepted " + listed(names, "and");
    acceptance.run.components.push_back(std::move(component));
  }
  for (const std::string& path : paths) {
    if (std::ranges::count(found, path) != 0) continue;
    const bool is_owned = std::ranges::any_of(owned, [&](const auto& each) { return owns(each.second, path); });
    return nothing_to_accept(path, is_owned, known);
  }
  return acceptance;
}

/// Rewrites the active generation with the newly accepted edits, by one rename.
Result<core::ApplyResult> accept(core::Session& session, const std::vector<std::string>& paths,
                                 const core::Generation& shown) {
  SLIPWAY_TRY(lock, core::RootLock::take(session.host_config().root, session.host_config().live));
  SLIPWAY_TRY(acceptance, plan_acceptance(session, paths));
  if (core::to_json(acceptance.next) != core::to_json(shown))
    return Error{ErrorCode::conflict,
                 "the state to accept has changed in the meantime",
                 {},
                 "look at the new state, then run the same command again",
                 {}};
  SLIPWAY_CHECK(session.state().prepare());
  acceptance.next.time = session.options().time;
  SLIPWAY_CHECK(session.state().write_current(acceptance.next));
  SLIPWAY_CHECK(session.root().settle_directory_times());
  SLIPWAY_CHECK(session.root().sync());
  (void)lock;
  return core::ApplyResult{.run = acceptance.run, .generation = acceptance.next.number, .changed = true};
}

}  // namespace

Result<int> run_accept(const Options& options, TerminalUi& ui) {
  core::watch_stop_signals();
  if (options.arguments.empty())
    return Error{ErrorCode::usage,
                 "accept which edits?",
                 "command line",
                 "name their paths; `slipway plan` lists the kept edits",
                 {}};
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(acceptance, plan_acceptance(*session, options.arguments));
  if (options.dry_run) return show_plan(acceptance.run, options);
  if (!agreed(acceptance.run, options)) return leave_unchanged(options);
  SLIPWAY_CHECK(core::check_not_stopped());
  SLIPWAY_TRY(result, app::recorded(*session, change_request(options), acceptance.run.spec.file,
                                    [&] { return accept(*session, options.arguments, acceptance.next); }));
  return finish_apply(options, result, ui);
}

}  // namespace slipway::cli
