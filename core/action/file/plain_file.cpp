// SPDX-License-Identifier: Apache-2.0
#include "core/action/file/plain_file.hpp"

#include <array>
#include <cstdio>

#include "base/digest/digest.hpp"
#include "core/action/file/text_diff.hpp"

namespace slipway::core {
namespace {

using Standing = Check::Standing;

constexpr std::size_t kContentBytes = 64 << 20;
constexpr unsigned kOthersMayRead = 0004;

bool same(const PlainFile& desired, const PathState& now) {
  return now.is(FileInfo::Type::regular) && now.content == desired.content && now.info.mode == desired.mode &&
         now.info.uid == desired.uid && now.info.gid == desired.gid;
}

std::string change_summary(const PlainFile& desired, const PathState& now) {
  if (now.absent) return "create " + desired.path + " (" + octal(desired.mode) + ")";
  if (!now.is(FileInfo::Type::regular))
    return "replace the link " + desired.path + " by a file (" + octal(desired.mode) + ")";
  if (now.content != desired.content) return "change " + desired.path + " (" + octal(desired.mode) + ")";
  return "set " + desired.path + " to mode " + octal(desired.mode) + ", owner " + std::to_string(desired.uid) + ":" +
         std::to_string(desired.gid);
}

const char* type_name(FileInfo::Type type) {
  switch (type) {
    case FileInfo::Type::regular:
      return "a file";
    case FileInfo::Type::directory:
      return "a folder";
    case FileInfo::Type::symlink:
      return "a symbolic link";
    case FileInfo::Type::character_device:
    case FileInfo::Type::block_device:
      return "a device node";
    case FileInfo::Type::other:
      break;
  }
  return "something that is neither file, folder nor link";
}

}  // namespace

std::string octal(unsigned mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

Result<PathState> look_at(const Host& host, const std::string& path, bool with_content) {
  PathState state;
  auto info = host.info(path);
  if (!info) return info.error().code == ErrorCode::not_found ? Result<PathState>(state) : info.error();
  state.absent = false;
  state.info = *info;
  const bool is_link = info->type == FileInfo::Type::symlink;
  if (!with_content || (!is_link && info->type != FileInfo::Type::regular)) return state;
  SLIPWAY_TRY(content, is_link ? host.read_link(path) : host.read(path, kContentBytes));
  state.content = std::move(content);
  return state;
}

Json fingerprint_of(const PathState& state) {
  if (state.is(FileInfo::Type::symlink)) return Json{{"points_to", state.content}};
  if (!state.is(FileInfo::Type::regular)) return nullptr;
  return Json{{"digest", base::digest_of(state.content)},
              {"mode", state.info.mode},
              {"uid", state.info.uid},
              {"gid", state.info.gid}};
}

Error in_the_way(const std::string& path, FileInfo::Type type, const std::string& wanted) {
  return Error{ErrorCode::conflict,
               path + " already exists and is " + type_name(type) + ", but " + wanted + " should be there",
               path,
               "find out who owns it (dpkg -S " + path + ", rpm -qf " + path +
                   "), move it away, then run the same command again",
               {}};
}

Error mounted(const std::string& path) {
  return Error{ErrorCode::conflict,
               path + " is mounted from elsewhere (a container engine does that), so it cannot be replaced",
               path,
               "unmount it (umount " + path + "), or change the file that is mounted there",
               {}};
}

std::string diff_for_people(const std::string& path, const PathState& now, const std::string& content, unsigned mode) {
  const bool hidden = (mode & kOthersMayRead) == 0 || (!now.absent && (now.info.mode & kOthersMayRead) == 0);
  return hidden ? std::string() : unified_diff(path, now.is(FileInfo::Type::regular) ? now.content : "", content);
}

Check judge(const PlainFile& desired, const PathState& now, const Json& record) {
  if (same(desired, now)) return Check::satisfied(desired.path);
  if (!now.absent && !now.is(FileInfo::Type::regular) && !now.is(FileInfo::Type::symlink))
    return Check::conflict("create " + desired.path, in_the_way(desired.path, now.info.type, "a file"));
  Check check;
  check.diff = diff_for_people(desired.path, now, desired.content, desired.mode);
  const bool edited = !record.is_null() && !now.absent && fingerprint_of(now) != record;
  if (edited && !desired.replace_edits) {
    check.standing = Standing::drift_kept;
    check.summary = "keep " + desired.path + ", which was edited after slipway wrote it";
    check.edit = Edit{desired.path, fingerprint_of(now)};
    return check;
  }
  check.summary = change_summary(desired, now);
  if (edited) check.summary += ", the edited one goes to " + desired.path + ".slipway-saved";
  return check;
}

}  // namespace slipway::core
