// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/edits.hpp"

#include <algorithm>
#include <sstream>

#include "base/digest/digest.hpp"

namespace slipway::core {
namespace {

/// Returns what an action asks for, without descriptions and triggers.
Json asked_for(const Action& action) {
  Json wanted = action.json();
  for (const char* member : {"because", "triggers"}) wanted.erase(member);
  return base::digest_of(canonical(wanted));
}

Status replace(PlannedItem& item, ActionContext& context) {
  item.replaces = item.check.edit;
  item.record_before_edit = item.record;
  Image original = item.original;
  item.kind->adopt(item.replaces->state, item.record, original);
  context.record = item.record;
  SLIPWAY_TRY(check, item.kind->check(item.action, context));
  item.check = std::move(check);
  item.check.summary += ", replacing an edit";
  return {};
}

}  // namespace

bool is_about(const std::string& path, const Action& action, const Edit& edit) {
  return path == edit.path || path == action.target();
}

std::string access_words(const Json& state) {
  const auto number = [&](const char* name) {
    const auto found = state.is_object() ? state.find(name) : state.end();
    return found != state.end() && found->is_number_unsigned() ? found->get<unsigned>() : 0U;
  };
  const unsigned mode = number("mode"), uid = number("uid");
  if ((mode & 06022U) == 0 && uid == 0) return {};
  std::ostringstream text;
  text << " (mode " << std::oct << mode << std::dec << ", uid " << uid << ")";
  return text.str();
}

Json acceptance(const Action& action, const Edit& edit) { return {{"of", asked_for(action)}, {"edit", edit.state}}; }

void settle_accepted(Check& check, const Action& action, const Json& accepted) {
  const auto found = accepted.find(action.kind() + " " + action.target());
  if (!check.edit || found == accepted.end() || *found != acceptance(action, *check.edit)) return;
  check.edit.reset();
  if (check.standing == Check::Standing::drift_kept) check = Check::satisfied(check.summary);
}

Status adopt_accepted_edit(PlannedItem& removal, PlannedComponent& planned, ActionContext& context) {
  SLIPWAY_TRY(check, removal.kind->check(removal.action, context));
  const auto edit = check.edit;
  settle_accepted(check, removal.action, planned.accepted);
  if (edit && !check.edit) removal.kind->adopt(edit->state, removal.record, removal.original);
  context.record = removal.record;
  planned.accepted.erase(removal.key());
  return {};
}

Status decide(PlannedItem& item, const Owned& earlier, PlannedComponent& planned, const PlanOptions& options,
              ActionContext& context) {
  const bool edited = item.check.edit.has_value();
  settle_accepted(item.check, item.action, planned.accepted);
  const bool is_accepted = edited && !item.check.edit;
  item.replaced = earlier.replaced;
  const std::string back_to = options.back_to ? std::to_string(options.back_to->number) : "";
  const auto named = [&](const std::string& path) { return is_about(path, item.action, *item.check.edit); };
  if (item.check.edit && options.replace_edits) {
    const auto& paths = *options.replace_edits;
    if (paths.empty() || std::ranges::any_of(paths, named)) SLIPWAY_CHECK(replace(item, context));
  } else if (!edited && !item.check.problem && item.replaced.contains(back_to)) {
    item.restored_generation = back_to;
    item.check = Check{Check::Standing::change,
                       "bring back the edit of " + item.action.target() + access_words(item.replaced[back_to]),
                       {},
                       {}};
  }
  const auto found = planned.accepted.find(item.key());
  if (found != planned.accepted.end() &&
      ((item.changes() && !is_accepted) || found->value("of", Json()) != asked_for(item.action)))
    planned.accepted.erase(found);
  const bool leaves_otherwise = item.kind->removal(earlier.action) != item.kind->removal(item.action);
  planned.updates_record =
      planned.updates_record || leaves_otherwise || (item.check.edit && earlier.action.json() != item.action.json());
  if (!edited && item.check.standing == Check::Standing::satisfied &&
      asked_for(earlier.action) != asked_for(item.action)) {
    SLIPWAY_TRY(before, item.kind->check(earlier.action, context));
    planned.adopts_edit = planned.adopts_edit || before.edit.has_value();
  }
  return {};
}

}  // namespace slipway::core
