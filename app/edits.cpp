// SPDX-License-Identifier: Apache-2.0
#include "app/edits.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "core/engine/packages/layers.hpp"

namespace slipway::app {
namespace {

bool is_replaced(const core::PlannedRun& run, const std::string& path) {
  return std::ranges::any_of(run.components, [&](const core::PlannedComponent& component) {
    return std::ranges::any_of(component.items, [&](const core::PlannedItem& item) {
      return item.replaces && core::is_about(path, item.action, *item.replaces);
    });
  });
}

}  // namespace

std::vector<KeptEdit> kept_edits(core::Session& session, const core::Ownership& owned, const Json& accepted) {
  std::vector<KeptEdit> edits;
  core::ComponentLayers layers(session, owned.component, {});
  for (const core::Owned& item : owned.items) {
    const auto kind = core::action_kind(item.action.kind());
    if (!kind || item.record.empty()) continue;  // the record has no fingerprint that would show an edit
    core::ActionContext context = core::make_context(session, owned.component, layers, item.record, item.original);
    auto check = (*kind)->check(item.action, context);
    if (!check) continue;
    core::settle_accepted(*check, item.action, accepted);
    if (check->edit) edits.push_back({item.action, *check->edit});
  }
  return edits;
}

std::vector<std::string> kept_paths(const core::PlannedRun& run) {
  std::vector<std::string> paths;
  for (const core::PlannedComponent& component : run.components)
    for (const core::PlannedItem& item : component.items)
      if (item.check.edit) paths.push_back(item.check.edit->path);
  return paths;
}

std::string edits_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " edit" : " edits"); }

Status check_replaced(const std::optional<std::vector<std::string>>& paths, const core::PlannedRun& run) {
  if (!paths || run.recovery) return {};  // undoing an interrupted apply turns replaced content into an edit again
  for (const std::string& path : *paths)
    if (!is_replaced(run, path))
      return Error{ErrorCode::not_found,
                   path + " has no kept edit to replace",
                   "command line",
                   suggestion(path, kept_paths(run), "`slipway plan` lists the kept edits"),
                   {}};
  return {};
}

}  // namespace slipway::app
