// SPDX-License-Identifier: Apache-2.0
// core/action/file/file.cpp - kind `file`: a regular file with exactly this content.
#include "base/digest/digest.hpp"
#include "core/action/action_kind.hpp"
#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

std::string saved_path(const std::string& path) { return path + ".slipway-saved"; }

Result<PlainFile> desired_file(const Action& action, const Host& host) {
  SLIPWAY_TRY(owner, find_owner(host, action.text("owner"), action.text("group")));
  return PlainFile{action.target(),
                   action.text("content"),
                   action.json().value("mode", 0644U),
                   owner.uid,
                   owner.gid,
                   action.text("on_drift") == "replace"};
}

class FileKind final : public ActionKind {
 public:
  Result<Check> check(const Action& action, ActionContext& context) const override {
    const auto desired = desired_file(action, context.host);
    if (!desired) return Check::conflict("create " + action.target(), desired.error());
    SLIPWAY_TRY(now, look_at(context.host, desired->path, true));
    if (!now.absent && context.root.is_mount_point(desired->path) &&
        fingerprint_of(now) != wanted_fingerprint(*desired))
      return Check::conflict("change " + desired->path, mounted(desired->path));
    return judge(*desired, now, context.record);
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(image, context.root.capture(action.target()));
    SLIPWAY_TRY(edited, saves_an_edit(action, context));
    if (edited) {
      SLIPWAY_TRY(saved, context.root.capture(saved_path(action.target())));
      image["saved"] = saved;
    }
    return image;
  }

  std::vector<std::pair<std::string, Image*>> paths(const Action& action, Image& image) const override {
    auto paths = ActionKind::paths(action, image);
    if (image.contains("saved")) paths.emplace_back(saved_path(action.target()), &image["saved"]);
    return paths;
  }

  Status stage(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(desired, desired_file(action, context.host));
    return context.root.stage_file(desired.path, desired.content, desired.mode, desired.uid, desired.gid);
  }

  Status unstage(const Action& action, ActionContext& context) const override {
    return context.root.unstage(action.target());
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(before, check(action, context));
    if (before.standing == Check::Standing::satisfied) {  // a second run after a crash
      SLIPWAY_CHECK(unstage(action, context));
      return Outcome::already_done();
    }
    SLIPWAY_TRY(edited, saves_an_edit(action, context));
    if (edited) SLIPWAY_CHECK(context.root.link_beside(action.target(), saved_path(action.target())));
    if (!context.root.staged(action.target())) SLIPWAY_CHECK(stage(action, context));
    SLIPWAY_CHECK(context.root.switch_in(action.target()));
    return Outcome::done();
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    SLIPWAY_CHECK(context.root.restore(action.target(), image));
    if (!image.contains("saved")) return {};
    return context.root.restore(saved_path(action.target()), image["saved"]);
  }

  Result<Json> fingerprint(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(now, look_at(context.host, action.target(), true));
    return fingerprint_of(now);
  }

  Result<Json> written(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(desired, desired_file(action, context.host));
    return wanted_fingerprint(desired);
  }

  Result<bool> drifted(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(now, look_at(context.host, action.target(), true));
    return !now.absent && !context.record.is_null() && fingerprint_of(now) != context.record;
  }

  Result<bool> holds_an_edit(const Action& action, const Image& image, const Image& original,
                             const Host& host) const override {
    SLIPWAY_TRY(now, look_at(host, action.target(), true));
    if (!now.is(FileInfo::Type::regular) || now.content == action.text("content")) return false;
    const std::string digest = base::digest_of(now.content);
    return !is_digest_of(image, digest) && !is_digest_of(original, digest);
  }

 private:
  static bool is_digest_of(const Image& image, const std::string& digest) {
    return image.is_object() && image.contains("digest") && image["digest"] == digest;
  }

  static Json wanted_fingerprint(const PlainFile& desired) {
    PathState state{false, {}, desired.content};
    state.info.type = FileInfo::Type::regular;
    state.info.mode = desired.mode;
    state.info.uid = desired.uid;
    state.info.gid = desired.gid;
    return fingerprint_of(state);
  }

  /// True with `on_drift: replace` when the present content was not written by slipway and is not the desired one.
  Result<bool> saves_an_edit(const Action& action, ActionContext& context) const {
    if (action.text("on_drift") != "replace") return false;
    SLIPWAY_TRY(desired, desired_file(action, context.host));
    SLIPWAY_TRY(now, look_at(context.host, action.target(), true));
    if (!now.is(FileInfo::Type::regular) || context.record.is_null()) return false;
    const Json state = fingerprint_of(now);
    return state != context.record && state != wanted_fingerprint(desired);
  }
};

}  // namespace

const ActionKind& file_kind() {
  static const FileKind kind;
  return kind;
}

}  // namespace slipway::core
