// SPDX-License-Identifier: Apache-2.0
// core/action/file/remove.cpp - kind `remove`: a file, link or empty folder that must not exist.
#include "core/action/action_kind.hpp"
#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

class RemoveKind final : public ActionKind {
 public:
  std::string removal(const Action& action) const override { return "bring back " + action.target(); }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    const std::string path = action.target();
    SLIPWAY_TRY(now, look_at(context.host, path, false));
    const std::string summary = "remove " + path;
    if (now.absent) return Check::satisfied(summary);
    if (now.is(FileInfo::Type::other)) return Check::conflict(summary, in_the_way(path, now.info.type, "nothing"));
    const auto names = now.is(FileInfo::Type::directory) ? context.host.list(path) : std::vector<std::string>{};
    if (names && names->empty()) return Check{Check::Standing::change, summary, {}, {}};
    return Check::conflict(
        summary, Error{ErrorCode::conflict,
                       path + " is a folder with something in it; only files, links and empty folders are removed",
                       path,
                       "move the folder's contents away, then run the same command again",
                       {}});
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    SLIPWAY_CHECK(context.root.remove(action.target()));
    return Outcome::done();
  }

  Result<Json> fingerprint(const Action&, ActionContext&) const override { return Json{{"absent", true}}; }

  /// True when the path exists again: the new file is a user's, and newer than the removed one.
  Result<bool> drifted(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(now, look_at(context.host, action.target(), false));
    return !now.absent;
  }
};

}  // namespace

const ActionKind& remove_kind() {
  static const RemoveKind kind;
  return kind;
}

}  // namespace slipway::core
