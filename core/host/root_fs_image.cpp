// SPDX-License-Identifier: Apache-2.0
// core/host/root_fs_image.cpp - captures and restores the state of a path.
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/digest/digest.hpp"
#include "base/write/new_file.hpp"
#include "core/host/files.hpp"
#include "core/host/originals.hpp"
#include "core/host/root_fs.hpp"

namespace slipway::core {
namespace {

PathImage common_image(const struct stat& info, const char* type) {
  PathImage image{type};
  image.file = {info.st_mode & kPermissionBits,
                info.st_uid,
                info.st_gid,
                info.st_mtim.tv_sec * kNanoseconds + info.st_mtim.tv_nsec,
                {}};
  return image;
}

Result<Image> absent_image(const RootDir& root, std::string_view path) {
  PathImage image{"absent"};
  for (const std::string& folder : folders_above(path)) {
    const auto existing = root.open_at(folder, O_PATH | O_DIRECTORY);
    if (existing) continue;
    const ErrorCode code = existing.error().code;
    const bool known = code == ErrorCode::not_found || code == ErrorCode::invalid || code == ErrorCode::conflict;
    if (!known) return existing.error();  // the parent may exist
    image.missing_parents.push_back(folder);
  }
  return to_json(image);
}

Result<std::string> link_target(int parent, const std::string& name, std::string_view path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(parent, name.c_str(), target.data(), target.size());
  if (size < 0) return system_error("read the link", path, errno);
  target.resize(static_cast<std::size_t>(size));
  return target;
}

PathImage device_image(const struct stat& info) {
  PathImage image = common_image(info, "other");
  image.device = S_ISCHR(info.st_mode) ? "character" : S_ISBLK(info.st_mode) ? "block" : "";
  if (S_ISFIFO(info.st_mode)) image.device = "fifo";
  image.major = major(info.st_rdev);
  image.minor = minor(info.st_rdev);
  return image;
}

Result<PathImage> regular_image(RootFs& root, int parent, const std::string& name, std::string_view path,
                                const struct stat& info) {
  if (info.st_size > Originals::kLargest)
    return Error{ErrorCode::invalid,
                 std::string(path) + " is in the way, and too large to be kept (" + std::to_string(info.st_size) +
                     " bytes, at most " + std::to_string(Originals::kLargest) + ")",
                 std::string(path),
                 "move it away, then run the same command again",
                 {}};
  SLIPWAY_TRY(file, open_regular(parent, name, path, O_NOFOLLOW));
  SLIPWAY_TRY(digest, Originals(root).keep(file.get(), path));
  PathImage image = common_image(info, "regular");
  image.digest = digest;
  return image;
}

/// True when a regular file has this content, by its digest. Errors: those of reading it.
Result<bool> has_content(int parent, const std::string& name, std::string_view path, const std::string& digest) {
  SLIPWAY_TRY(file, open_regular(parent, name, path, O_NOFOLLOW));
  SLIPWAY_TRY(now, base::digest_of_file(file.get(), std::string(path)));
  return now == digest;
}

/// True when the name has this type, owner, time and attributes, and is the same link, file or device.
Result<bool> is_at(int parent, const std::string& name, std::string_view path, const PathImage& image) {
  struct stat info {};
  if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? Result<bool>(false) : system_error("look at", path, errno);
  PathImage now = device_image(info);
  if (S_ISREG(info.st_mode)) now = common_image(info, "regular");
  if (S_ISLNK(info.st_mode)) now = common_image(info, "symlink");
  if (S_ISDIR(info.st_mode)) now = common_image(info, "directory");
  if (now.type != image.type) return false;
  now.file.attributes = base::read_attributes(parent, name);
  if (S_ISLNK(info.st_mode)) {
    SLIPWAY_TRY(target, link_target(parent, name, path));
    now.points_to = target;
  }
  now.digest = image.digest;
  if (to_json(now) != to_json(image)) return false;
  return image.type == "regular" ? has_content(parent, name, path, image.digest) : Result<bool>(true);
}

/// True when the error means that a folder made by slipway stays: it is not empty, or something else has its name.
bool may_stay(int error) {
  return error == ENOTEMPTY || error == EEXIST || error == ENOENT || error == ENOTDIR || error == EBUSY;
}

}  // namespace

Result<Image> RootFs::capture(std::string_view path) {
  auto place = root_.parent_of(path);
  if (!place && place.error().code == ErrorCode::not_found) return absent_image(root_, path);
  if (!place) return place.error();
  const auto& [parent, name] = *place;
  struct stat info {};
  if (::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? absent_image(root_, path) : Result<Image>(system_error("look at", path, errno));

  PathImage image;
  if (S_ISREG(info.st_mode)) {
    SLIPWAY_TRY(taken, regular_image(*this, parent.get(), name, path, info));
    image = taken;
  } else if (S_ISLNK(info.st_mode)) {
    SLIPWAY_TRY(target, link_target(parent.get(), name, path));
    image = common_image(info, "symlink");
    image.points_to = target;
  } else {
    image = S_ISDIR(info.st_mode) ? common_image(info, "directory") : device_image(info);
  }
  image.file.attributes = base::read_attributes(parent.get(), name);
  return to_json(image);
}

/// True when there is nothing to restore. Then nothing is written: the file system may be read-only now.
Result<bool> RootFs::is_as_recorded(std::string_view path, const PathImage& image) const {
  const auto place = root_.parent_of(path);
  if (!place) return place.error().code == ErrorCode::not_found ? Result<bool>(false) : place.error();
  return is_at(place->first.get(), place->second, path, image);
}

Status RootFs::restore(std::string_view path, const Image& recorded) {
  const PathImage image = path_image_from_json(recorded);
  if (image.type == "absent") return restore_absent(path, image);
  SLIPWAY_TRY(unchanged, is_as_recorded(path, image));
  if (unchanged) {
    changed_directories_.erase(std::string(path));  // its time is unchanged
    return unstage(path);
  }
  if (image.type == "regular") return restore_regular(path, image);
  if (image.type == "directory") return restore_directory(path, image);
  const base::NewFile& wanted = image.file;
  if (image.type == "symlink") {
    SLIPWAY_CHECK(stage_symlink(path, image.points_to));
    SLIPWAY_TRY(place, root_.parent_of(path));
    const std::string staged = place.second + base::kNewSuffix;
    SLIPWAY_CHECK(base::set_owner(place.first.get(), staged, path, wanted.uid, wanted.gid));
    const Fd link(::openat(place.first.get(), staged.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    SLIPWAY_CHECK(base::write_attributes(link.get(), path, wanted.attributes));
    SLIPWAY_CHECK(base::set_mtime(place.first.get(), staged, path, wanted.mtime_ns));
    return switch_in(path);
  }
  if (image.device != "character" && image.device != "block")
    return Error{ErrorCode::unsupported,
                 std::string(path) +
                     " was neither file, link, folder nor device node, and "
                     "cannot be made again",
                 std::string(path),
                 {},
                 {}};
  SLIPWAY_CHECK(make_node(path, image.device == "character", image.major, image.minor, wanted.mode));
  SLIPWAY_TRY(place, root_.parent_of(path));
  return base::set_owner(place.first.get(), place.second, path, wanted.uid, wanted.gid);
}

Status RootFs::restore_absent(std::string_view path, const PathImage& image) {
  SLIPWAY_CHECK(unstage(path));
  Status removed = remove(path);
  if (!removed) {
    const auto existing = root_.open_at(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (existing) return {};  // a folder with other files in it stays
    return removed;
  }
  const std::vector<std::string>& missing = image.missing_parents;
  for (auto folder = missing.rbegin(); folder != missing.rend(); ++folder) {
    const auto place = root_.parent_of(*folder);
    if (!place && place.error().code == ErrorCode::not_found) continue;
    if (!place) return place.error();
    if (unlink_name(place->first.get(), place->second, AT_REMOVEDIR) != 0) {
      if (!may_stay(errno)) return system_error("remove", *folder, errno);
      continue;
    }
    const auto above = folders_above(*folder);
    changed(place->first.get(), above.empty() ? "/" : above.back());
  }
  return {};
}

Status RootFs::restore_regular(std::string_view path, const PathImage& image) {
  SLIPWAY_TRY(original, Originals(*this).open(image.digest));
  SLIPWAY_CHECK(make_parents(path));
  SLIPWAY_TRY(place, root_.parent_of(path));
  const auto& [parent, name] = place;
  SLIPWAY_CHECK(base::write_new_file(parent.get(), name + base::kNewSuffix, path, image.file,
                                     [&](int fd) { return copy_all(original.get(), fd, path); }));
  struct stat info {};
  if (::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode))
    unlink_name(parent.get(), name, AT_REMOVEDIR);  // removes an empty one; else the rename below fails
  return switch_in(path);
}

Status RootFs::restore_directory(std::string_view path, const PathImage& image) {
  const base::NewFile& wanted = image.file;
  if (!root_.open_at(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)) SLIPWAY_CHECK(remove(path));
  SLIPWAY_CHECK(make_directory(path, wanted.mode));
  SLIPWAY_TRY(place, root_.parent_of(path));
  SLIPWAY_CHECK(base::set_owner(place.first.get(), place.second, path, wanted.uid, wanted.gid));
  const Fd folder(::openat(place.first.get(), place.second.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  SLIPWAY_CHECK(base::write_attributes(folder.get(), path, wanted.attributes));
  if (::fchmodat(place.first.get(), place.second.c_str(), wanted.mode, 0) != 0)
    return system_error("set the mode of", path, errno);
  changed_directories_.erase(std::string(path));  // its time is unchanged
  return base::set_mtime(place.first.get(), place.second, path, wanted.mtime_ns);
}

}  // namespace slipway::core
