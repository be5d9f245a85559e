// SPDX-License-Identifier: Apache-2.0
// core/action/file/directory.cpp - kind `directory`: a folder. Its contents are not slipway's.
#include "core/action/action_kind.hpp"
#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

unsigned mode_of(const Action& action) { return action.json().value("mode", 0755U); }

/// A link to a folder counts as that folder.
Result<PathState> folder_at(const Host& host, const std::string& path) {
  SLIPWAY_TRY(state, look_at(host, path, false));
  if (!state.is(FileInfo::Type::symlink)) return state;
  const auto target = host.resolve(path);
  return target ? look_at(host, *target, false) : Result<PathState>(state);
}

class DirectoryKind final : public ActionKind {
 public:
  std::string removal(const Action& action) const override {
    return "remove the folder " + action.target() + " if it is empty";
  }

  /// Several components may need the same folder.
  std::vector<Claim> claims(const Action& action) const override {
    return {{action.target(), {}, true, "directory " + action.target()}};
  }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    const std::string path = action.target();
    SLIPWAY_TRY(now, folder_at(context.host, path));
    Check check;
    check.summary = "create the folder " + path + " (" + octal(mode_of(action)) + ")";
    if (now.absent) return check;
    if (!now.is(FileInfo::Type::directory))
      return Check::conflict(check.summary, in_the_way(path, now.info.type, "a folder"));
    if (now.info.mode == mode_of(action)) return Check::satisfied(path);
    check.summary = "set the folder " + path + " to mode " + octal(mode_of(action));
    const bool edited = !context.record.is_null() && context.record.value("mode", 0U) != now.info.mode;
    if (edited) {
      check.standing = Check::Standing::drift_kept;
      check.summary =
          "keep mode " + octal(now.info.mode) + " of " + path + ", which was set after slipway made the folder";
      check.edit = Edit{path, {{"mode", now.info.mode}}};
    }
    return check;
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    SLIPWAY_CHECK(context.root.make_directory(action.target(), mode_of(action)));
    return Outcome::done();
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    if (image.value("type", "") == "symlink") return {};  // it was already a link to a folder, and still is
    return context.root.restore(action.target(), image);
  }

  Image without_original(const Image& image) const override { return image; }  // the folder may have existed before

  Result<Json> fingerprint(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(now, folder_at(context.host, action.target()));
    return now.absent ? Json(nullptr) : Json{{"mode", now.info.mode}};
  }
};

}  // namespace

const ActionKind& directory_kind() {
  static const DirectoryKind kind;
  return kind;
}

}  // namespace slipway::core
