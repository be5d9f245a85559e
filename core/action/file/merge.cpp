// SPDX-License-Identifier: Apache-2.0
// core/action/file/merge.cpp - kind `merge`: sets keys in a file that belongs to another program or to the user.
//
// Image: {"path": the file behind all links, "file": its image, "keys": records of merge/edit.hpp, "result": digest of
// the file with the keys set}. While the file equals that result, undoing restores the former bytes. Once another
// program has changed it, undoing restores each key that still has slipway's value.
#include <algorithm>

#include <unistd.h>

#include <slipway/text.hpp>

#include "base/digest/digest.hpp"
#include "base/merge/edit.hpp"
#include "base/write/new_file.hpp"
#include "core/action/action_kind.hpp"
#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

using merge::DesiredKey;
using merge::Key;
using merge::KeyRecord;

constexpr std::size_t kNamedKeys = 3;

bool same_key(const KeyRecord& record, const Key& key) { return record["key"] == Json(key); }

const KeyRecord* find_record(const Json& records, const Key& key) {
  if (!records.is_array()) return nullptr;
  for (const KeyRecord& record : records)
    if (same_key(record, key)) return &record;
  return nullptr;
}

Json keys_of(const Json& image_or_record) {
  return image_or_record.is_object() ? image_or_record.value("keys", Json::array()) : Json::array();
}

/// The present file, and the desired one.
struct Work {
  std::string path;  ///< behind all links
  std::string format;
  PathState now;
  std::vector<DesiredKey> desired_keys;
  std::vector<Key> kept;       ///< keys that another program changed since
  Json edits = Json::array();  ///< of those keys: {"key", "value"}, null where the key is gone
  std::vector<Key> changed;    ///< keys that are set, removed or restored
  std::vector<KeyRecord> records;
  std::string bytes;  ///< the result

  bool changes() const { return bytes != now.content; }
  unsigned mode() const { return now.absent ? 0644 : now.info.mode; }
};

/// Restores the keys of an earlier action that this one no longer lists.
Status give_up(Work& work, const ActionContext& context) {
  std::vector<KeyRecord> stale;
  for (const KeyRecord& record : keys_of(context.original)) {
    const bool still_planned = std::any_of(work.desired_keys.begin(), work.desired_keys.end(),
                                           [&](const DesiredKey& desired) { return same_key(record, desired.key); });
    if (!still_planned) stale.push_back(record);
  }
  if (stale.empty()) return {};
  SLIPWAY_TRY(undone, merge::undo_keys(work.bytes, work.format, stale, work.path));
  if (undone != work.bytes)
    for (const KeyRecord& record : stale) work.changed.push_back(record["key"]);
  work.bytes = undone;
  return {};
}

Result<Work> plan_work(const Action& action, const ActionContext& context) {
  Work work;
  work.path = context.host.resolve(action.target()).value_or(action.target());
  work.format = action.text("format");
  work.desired_keys = merge::desired_keys_of(action.value("set"));
  SLIPWAY_TRY(now, look_at(context.host, work.path, true));
  work.now = now;
  if (!now.absent && !now.is(FileInfo::Type::regular))
    return in_the_way(work.path, now.info.type, "a configuration file");
  work.bytes = now.content;
  SLIPWAY_TRY(document, merge::read_value(work.bytes, work.format, work.path));
  const Json record = keys_of(context.record);
  SLIPWAY_CHECK(merge::check_records(record, "value", work.path));
  SLIPWAY_CHECK(merge::check_records(keys_of(context.original), "ours", work.path));
  const bool replace = action.text("on_drift") == "replace";
  std::vector<DesiredKey> ours;
  for (const DesiredKey& desired : work.desired_keys) {
    const KeyRecord* former = find_record(record, desired.key);
    const bool edited = former != nullptr && !now.absent && !merge::holds(document, desired.key, (*former)["value"]) &&
                        !merge::holds(document, desired.key, desired.value);
    if (edited && !replace) {
      work.kept.push_back(desired.key);
      const merge::Reach found = merge::reach(document, desired.key);
      work.edits.push_back(
          {{"key", desired.key}, {"value", found.depth == desired.key.size() ? *found.value : Json()}});
    } else {
      ours.push_back(desired);
    }
  }
  SLIPWAY_CHECK(give_up(work, context));
  SLIPWAY_TRY(edited, merge::set_keys(work.bytes, work.format, ours, work.path));
  work.bytes = edited.bytes;
  work.records = edited.records;
  for (const KeyRecord& key : work.records)
    if (key.contains("edit")) work.changed.push_back(key["key"]);
  return work;
}

std::string names(const std::vector<Key>& keys) {
  std::vector<std::string> texts;
  for (const Key& key : keys) texts.push_back(merge::to_text(key));
  return first_few(texts, kNamedKeys);
}

Json image_of(const Work& work, const Image& file) {
  return Json{{"path", work.path}, {"file", file}, {"keys", work.records}, {"result", base::digest_of(work.bytes)}};
}

Status write(const Work& work, RootFs& root) {
  const std::uint32_t uid = work.now.absent ? ::geteuid() : work.now.info.uid;
  const std::uint32_t gid = work.now.absent ? ::getegid() : work.now.info.gid;
  return root.stage_file(work.path, work.bytes, work.mode(), uid, gid);
}

/// Combines a key's records of two applies: its state before the first, and the value that the last one wrote.
KeyRecord join_records(const KeyRecord& first, const KeyRecord& later) {
  if (!first.contains("edit")) return later;
  KeyRecord joined = first;
  joined["ours"] = later["ours"];
  if (!later.contains("edit")) return joined;
  joined["edit"] = later["edit"];
  joined["edit"]["old"] = first["edit"]["old"];
  return joined;
}

class MergeKind final : public ActionKind {
 public:
  std::string removal(const Action& action) const override { return "remove slipway's keys from " + action.target(); }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    const auto work = plan_work(action, context);
    if (!work) return Check::conflict("change " + action.target(), work.error());
    Check check = Check::satisfied(work->path);
    if (!work->kept.empty()) check.edit = Edit{work->path, {{"keys", work->edits}}};
    if (work->changes()) {
      check.standing = Check::Standing::change;
      check.summary =
          (work->now.absent ? "create " + work->path + " with " : "change " + work->path + ": ") + names(work->changed);
      check.diff = diff_for_people(work->path, work->now, work->bytes, work->mode());
      if (!work->kept.empty()) check.summary += "; keep " + names(work->kept) + ", edited after slipway wrote the file";
      if (context.root.is_mount_point(work->path)) {
        check.standing = Check::Standing::conflict;
        check.problem = mounted(work->path);
      }
    } else if (!work->kept.empty()) {
      check.standing = Check::Standing::drift_kept;
      check.summary = "keep " + names(work->kept) + " in " + work->path + ", edited after slipway wrote the file";
    }
    return check;
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(work, plan_work(action, context));
    SLIPWAY_TRY(file, context.root.capture(work.path));
    return image_of(work, file);
  }

  std::vector<std::pair<std::string, Image*>> paths(const Action&, Image& image) const override {
    return {{image["path"], &image["file"]}};
  }

  Status stage(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(work, plan_work(action, context));
    return work.changes() ? write(work, context.root) : Status{};
  }

  Status unstage(const Action& action, ActionContext& context) const override {
    return context.root.unstage(context.host.resolve(action.target()).value_or(action.target()));
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(work, plan_work(action, context));
    if (!work.changes()) {
      SLIPWAY_CHECK(unstage(action, context));
      return Outcome::already_done();
    }
    SLIPWAY_TRY(staged, look_at(context.host, work.path + base::kNewSuffix, true));
    if (staged.absent || staged.content != work.bytes) {  // another program wrote the file since it was staged
      SLIPWAY_CHECK(write(work, context.root));
      SLIPWAY_CHECK(context.root.sync());
    }
    SLIPWAY_CHECK(context.root.switch_in(work.path));
    return Outcome::done();
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    const std::string path = image.value("path", action.target());
    const Image file = image.value("file", to_json(PathImage{"absent"}));
    SLIPWAY_CHECK(context.root.unstage(path));
    SLIPWAY_TRY(now, look_at(context.host, path, true));
    const std::string digest = now.is(FileInfo::Type::regular) ? base::digest_of(now.content) : "";
    if (digest == image.value("result", "-") || (now.absent && is_absent(file)))
      return context.root.restore(path, file);
    // The file is gone with all its keys, or was never changed.
    if (now.absent || digest == file.value("digest", "-")) return {};
    const Json keys = keys_of(image);
    SLIPWAY_TRY(undone, merge::undo_keys(now.content, action.text("format"), {keys.begin(), keys.end()}, path));
    SLIPWAY_TRY(left, merge::read_value(undone, action.text("format"), path));
    if (is_absent(file) && left.empty()) return context.root.restore(path, file);
    if (undone == now.content) return {};
    SLIPWAY_CHECK(context.root.stage_file(path, undone, now.info.mode, now.info.uid, now.info.gid));
    SLIPWAY_CHECK(context.root.sync());
    return context.root.switch_in(path);
  }

  Image join(const Image& first, const Image& later) const override {
    Image joined = later;
    joined["file"] = first.value("file", Json());
    joined["keys"] = Json::array();
    const Json records = keys_of(first);
    for (const KeyRecord& record : keys_of(later)) {
      const KeyRecord* former = find_record(records, record["key"].get<Key>());
      joined["keys"].push_back(former == nullptr ? record : join_records(*former, record));
    }
    // Another program wrote the file between the two applies, so its former bytes must not be restored.
    const Json captured = later.value("file", Json::object());
    if (captured.value("digest", "") != first.value("result", "-")) joined["result"] = "";
    return joined;
  }

  /// Restores single keys, never the whole file.
  Image without_original(const Image& image) const override {
    Image without = image;
    without["result"] = "lost";
    without["file"].erase("digest");
    return without;
  }

  Result<Json> fingerprint(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(work, plan_work(action, context));
    SLIPWAY_TRY(document, merge::read_value(work.now.content, work.format, work.path));
    const Json former = keys_of(context.record);
    Json keys = Json::array();
    for (const DesiredKey& desired : work.desired_keys) {
      const KeyRecord* kept = find_record(former, desired.key);
      if (merge::holds(document, desired.key, desired.value))
        keys.push_back({{"key", desired.key}, {"value", desired.value}});
      else if (kept != nullptr)
        keys.push_back(*kept);  // a kept edit stays kept
    }
    return Json{{"keys", keys}};
  }

  void adopt(const Json& edit, Json& record, Image& original) const override {
    for (const auto& [holder, member] : {std::pair(&record, "value"), std::pair(&original, "ours")})
      for (const Json& edited : keys_of(edit))
        for (std::size_t i = 0; i < keys_of(*holder).size(); ++i)
          if (KeyRecord& key = (*holder)["keys"][i]; key["key"] == edited["key"]) key[member] = edited["value"];
  }

  /// Components may share a file, but not a key.
  std::vector<Claim> claims(const Action& action) const override {
    std::vector<Claim> keys;
    const auto desired_keys = merge::desired_keys_of(action.value("set"));
    for (const DesiredKey& desired : desired_keys) {
      const std::string key = merge::to_text(desired.key);
      keys.push_back({action.target(), key, false, key + " in " + action.target(), true});
    }
    return keys;
  }
};

}  // namespace

const ActionKind& merge_kind() {
  static const MergeKind kind;
  return kind;
}

}  // namespace slipway::core
