// SPDX-License-Identifier: Apache-2.0
// core/action/file/symlink.cpp - kind `symlink`: a symbolic link, written as given.
#include "core/action/action_kind.hpp"
#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

/// Returns the target of a link at the path; null when nothing is there. Errors: those of reading it.
Result<Json> link_at(const Host& host, const std::string& path) {
  SLIPWAY_TRY(state, look_at(host, path, false));
  if (!state.is(FileInfo::Type::symlink)) return Json(nullptr);
  SLIPWAY_TRY(target, host.read_link(path));
  return Json{{"points_to", target}};
}

class SymlinkKind final : public ActionKind {
 public:
  Result<Check> check(const Action& action, ActionContext& context) const override {
    const std::string path = action.target();
    const Json wanted{{"points_to", action.text("points_to")}};
    SLIPWAY_TRY(state, look_at(context.host, path, false));
    SLIPWAY_TRY(link, link_at(context.host, path));
    Check check;
    check.summary = "link " + path + " -> " + action.text("points_to");
    if (state.absent) return check;
    if (link.is_null())
      return Check::conflict(check.summary,
                             in_the_way(path, state.info.type, "a symbolic link to " + action.text("points_to")));
    const std::string now = link["points_to"];
    if (link == wanted) return Check::satisfied(check.summary);
    if (!context.record.is_null() && context.record != link) {
      check.standing = Check::Standing::drift_kept;
      check.summary = "keep " + path + " -> " + now + ", which was edited after slipway wrote it";
      check.edit = Edit{path, link};
    } else {
      check.summary += " (was " + now + ")";
    }
    return check;
  }

  Status stage(const Action& action, ActionContext& context) const override {
    return context.root.stage_symlink(action.target(), action.text("points_to"));
  }

  Status unstage(const Action& action, ActionContext& context) const override {
    return context.root.unstage(action.target());
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(before, check(action, context));
    if (before.problem) return *before.problem;
    if (before.standing == Check::Standing::satisfied) {
      SLIPWAY_CHECK(unstage(action, context));
      return Outcome::already_done();
    }
    if (!context.root.staged(action.target())) SLIPWAY_CHECK(stage(action, context));
    SLIPWAY_CHECK(context.root.switch_in(action.target()));
    return Outcome::done();
  }

  Result<Json> fingerprint(const Action& action, ActionContext& context) const override {
    return link_at(context.host, action.target());
  }

  Result<bool> drifted(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(state, look_at(context.host, action.target(), false));
    SLIPWAY_TRY(link, link_at(context.host, action.target()));
    return !state.absent && !context.record.is_null() && link != context.record;
  }
};

}  // namespace

const ActionKind& symlink_kind() {
  static const SymlinkKind kind;
  return kind;
}

}  // namespace slipway::core
