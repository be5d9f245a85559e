// SPDX-License-Identifier: Apache-2.0
#include "core/host/root_fs.hpp"

#include <cerrno>
#include <chrono>
#include <functional>

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/write/new_file.hpp"
#include "base/write/tree.hpp"
#include "core/host/files.hpp"

namespace slipway::core {
namespace {

constexpr unsigned kParentMode = 0755;

std::string folder_of(std::string_view path) {
  const auto above = folders_above(path);
  return above.empty() ? "/" : above.back();
}

/// @param here  the path for commands on this machine
Error not_replaceable(std::string_view path, int number, const std::string& here) {
  const std::string text(path);
  if (number == EBUSY)
    return Error{ErrorCode::conflict,
                 "something is mounted on " + text +
                     ", so it cannot be replaced in one step, and writing into it would not survive a crash half-way",
                 text,
                 "unmount it (umount " + text + "), or change the file that is mounted there",
                 {}};
  if (number == EISDIR || number == ENOTEMPTY || number == EEXIST)
    return Error{ErrorCode::conflict,
                 text + " is a folder, but a file or link should be there",
                 text,
                 "move that folder away, then run the same command again",
                 {}};
  Error error = system_error("replace", path, number);
  // Root may replace every file except those with the attribute immutable or append-only (rename(2), ioctl_iflags(2)).
  if (number == EPERM && ::geteuid() == 0)
    error.next = "the file or its folder has the attribute immutable or append-only (`lsattr -d " + here +
                 "`): take it off with `chattr -i -a`, then run the same command again";
  return error;
}

Error not_a_folder(const std::string& path) {
  return Error{ErrorCode::conflict,
               path + " is not a folder, but something has to be put below it",
               path,
               "move that file away, then run the same command again",
               {}};
}

}  // namespace

std::vector<std::string> folders_above(std::string_view path) {
  std::vector<std::string> folders;
  std::string so_far;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) break;
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    if (path.find_first_not_of('/') == std::string_view::npos) {  // "a/" ends in the name itself
      break;
    }
    if (name.empty()) continue;
    so_far += '/';
    so_far += name;
    folders.push_back(so_far);
  }
  return folders;
}

RootFs::RootFs(RootDir root, std::optional<std::int64_t> source_date_epoch)
    : root_(std::move(root)), source_date_epoch_(source_date_epoch) {}

std::int64_t RootFs::now_ns() const {
  if (source_date_epoch_) return *source_date_epoch_ * kNanoseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void RootFs::changed(int folder, std::string_view path) {
  changed_directories_.emplace(path);
  struct stat info {};
  if (::fstat(folder, &info) != 0 || written_filesystems_.contains(info.st_dev)) return;
  if (auto fd = root_.open_at(path, O_RDONLY | O_DIRECTORY))
    written_filesystems_[info.st_dev] = std::make_shared<Fd>(std::move(*fd));
}

void RootFs::note_changed(std::string_view folder) {
  if (const auto fd = root_.open_at(folder, O_PATH | O_DIRECTORY)) changed(fd->get(), folder);
}

bool RootFs::is_mount_point(std::string_view path) const {
  const auto place = root_.parent_of(path);
  if (!place) return false;
  struct statx info {};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  if (::statx(place->first.get(), place->second.c_str(), flags, STATX_TYPE, &info) != 0) return false;
  return (info.stx_attributes_mask & info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// Returns the path of a file inside the root as the user who named the root sees it.
std::string RootFs::in_this_filesystem(std::string_view path) const {
  return (root_.folder() == "/" ? "" : root_.folder()) + std::string(path);
}

Status RootFs::make_one_directory(const std::string& path, unsigned mode) {
  auto place = root_.parent_of(path);
  if (!place) return std::move(place).error();
  const auto& [parent, name] = *place;
  if (::mkdirat(parent.get(), name.c_str(), mode) != 0) {
    if (errno != EEXIST) return system_error("make the folder", in_this_filesystem(path), errno);
    if (root_.open_at(path, O_PATH | O_DIRECTORY)) return {};  // another process has created it meanwhile
    return not_a_folder(path);
  }
  // The owner of the folder above may have put a link in its place.
  const Fd made(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made || ::fchmod(made.get(), mode) != 0) return system_error("set the mode of", path, errno);
  SLIPWAY_CHECK(base::set_owner(parent.get(), name, path, ::geteuid(), ::getegid()));
  changed(parent.get(), folder_of(path));
  changed_directories_.insert(path);
  return {};
}

Status RootFs::make_parents(std::string_view path) {
  const auto folders = folders_above(path);
  if (folders.empty() || root_.open_at(folders.back(), O_PATH | O_DIRECTORY)) return {};
  for (const std::string& folder : folders)
    if (!root_.open_at(folder, O_PATH | O_DIRECTORY)) SLIPWAY_CHECK(make_one_directory(folder, kParentMode));
  return {};
}

Status RootFs::make_directory(std::string_view path, unsigned mode) {
  SLIPWAY_CHECK(make_parents(path));
  const auto existing = root_.open_at(path, O_RDONLY | O_DIRECTORY);
  if (!existing) return make_one_directory(std::string(path), mode);
  struct stat info {};
  if (::fstat(existing->get(), &info) != 0) return system_error("look at", path, errno);
  if ((info.st_mode & kPermissionBits) == mode) return {};
  return ::fchmod(existing->get(), mode) == 0 ? Status{} : system_error("set the mode of", path, errno);
}

Status RootFs::stage_file(std::string_view path, std::string_view content, unsigned mode, unsigned uid, unsigned gid) {
  SLIPWAY_CHECK(make_parents(path));
  SLIPWAY_TRY(place, root_.parent_of(path));
  const auto& [parent, name] = place;
  base::NewFile wanted{mode, uid, gid, now_ns(), {}};
  struct stat former {};
  if (::fstatat(parent.get(), name.c_str(), &former, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(former.st_mode))
    wanted.attributes = base::read_attributes(parent.get(), name);
  changed(parent.get(), folder_of(path));
  return base::write_new_file(parent.get(), name + base::kNewSuffix, path, wanted,
                              [&](int fd) { return base::write_all(fd, content, path); });
}

Status RootFs::stage_symlink(std::string_view path, std::string_view points_to) {
  SLIPWAY_CHECK(make_parents(path));
  SLIPWAY_CHECK(unstage(path));
  SLIPWAY_TRY(place, root_.parent_of(path));
  const auto& [parent, name] = place;
  const std::string staged = name + base::kNewSuffix;
  if (::symlinkat(std::string(points_to).c_str(), parent.get(), staged.c_str()) != 0)
    return system_error("make the link", path, errno);
  changed(parent.get(), folder_of(path));
  SLIPWAY_CHECK(base::set_owner(parent.get(), staged, path, ::geteuid(), ::getegid()));
  return base::set_mtime(parent.get(), staged, path, now_ns());
}

Status RootFs::switch_in(std::string_view path) {
  SLIPWAY_TRY(place, root_.parent_of(path));
  const auto& [parent, name] = place;
  const std::string staged = name + base::kNewSuffix;
  if (::renameat(parent.get(), staged.c_str(), parent.get(), name.c_str()) != 0)
    return not_replaceable(path, errno, in_this_filesystem(path));
  changed(parent.get(), folder_of(path));
  return {};
}

bool RootFs::staged(std::string_view path) const {
  return root_.open_at(std::string(path) + base::kNewSuffix, O_PATH | O_NOFOLLOW).ok();
}

Status RootFs::link_beside(std::string_view path, std::string_view beside) {
  SLIPWAY_CHECK(unstage(beside));
  SLIPWAY_TRY(from, root_.parent_of(path));
  SLIPWAY_TRY(to, root_.parent_of(beside));
  const std::string staged = to.second + base::kNewSuffix;
  if (::linkat(from.first.get(), from.second.c_str(), to.first.get(), staged.c_str(), 0) != 0)
    return system_error("save a copy of", path, errno);
  SLIPWAY_CHECK(switch_in(beside));
  return unstage(beside);  // rename(2) leaves both names when they are already the same file
}

Status RootFs::unstage(std::string_view path) {
  auto place = root_.parent_of(path);
  if (!place) return place.error().code == ErrorCode::not_found ? Status{} : Status(place.error());
  const auto& [parent, name] = *place;
  const std::string staged = name + base::kNewSuffix;
  if (unlink_name(parent.get(), staged, 0) == 0) {
    changed(parent.get(), folder_of(path));
    return {};
  }
  return errno == ENOENT ? Status{} : system_error("remove", std::string(path) + base::kNewSuffix, errno);
}

Status RootFs::rename(std::string_view from, std::string_view to) {
  SLIPWAY_TRY(source, root_.parent_of(from));
  SLIPWAY_TRY(target, root_.parent_of(to));
  if (::renameat(source.first.get(), source.second.c_str(), target.first.get(), target.second.c_str()) != 0)
    return not_replaceable(to, errno, in_this_filesystem(to));
  changed(target.first.get(), folder_of(to));
  // Changed folders below have new names from now on.
  std::set<std::string> moved;
  for (const std::string& path : changed_directories_)
    if (path == from || path.starts_with(std::string(from) + "/")) moved.insert(path);
  for (const std::string& path : moved) {
    changed_directories_.erase(path);
    changed_directories_.insert(std::string(to) + path.substr(from.size()));
  }
  return {};
}

Status RootFs::remove_tree(std::string_view path) {
  auto place = root_.parent_of(path);
  if (!place) return place.error().code == ErrorCode::not_found ? Status{} : Status(place.error());
  const auto above = folders_above(path);
  changed(place->first.get(), above.empty() ? "/" : above.back());
  return slipway::base::remove_tree(place->first.get(), place->second, std::string(path));
}

Status RootFs::remove(std::string_view path) {
  auto place = root_.parent_of(path);
  if (!place) return place.error().code == ErrorCode::not_found ? Status{} : Status(place.error());
  const auto& [parent, name] = *place;
  int result = unlink_name(parent.get(), name, 0);
  if (result != 0 && (errno == EISDIR || errno == EPERM)) result = unlink_name(parent.get(), name, AT_REMOVEDIR);
  if (result != 0 && errno == ENOENT) return {};
  if (result != 0 && errno == EBUSY)
    return Error{ErrorCode::conflict,
                 "something is mounted on " + std::string(path) + ", so it cannot be removed",
                 std::string(path),
                 "unmount it (umount " + std::string(path) + ")",
                 {}};
  if (result != 0) return system_error("remove", path, errno);
  changed(parent.get(), folder_of(path));
  return {};
}

Status RootFs::make_node(std::string_view path, bool character, unsigned major, unsigned minor, unsigned mode,
                         unsigned uid, unsigned gid) {
  SLIPWAY_CHECK(make_parents(path));
  SLIPWAY_CHECK(unstage(path));
  SLIPWAY_TRY(place, root_.parent_of(path));
  const auto& [parent, name] = place;
  const std::string staged = name + base::kNewSuffix;
  const mode_t type = character ? S_IFCHR : S_IFBLK;
  if (::mknodat(parent.get(), staged.c_str(), type | 0600, makedev(major, minor)) != 0)
    return system_error("make the device node", path, errno);
  if (uid != 0 || gid != 0) SLIPWAY_CHECK(base::set_owner(parent.get(), staged, path, uid, gid));
  if (::fchmodat(parent.get(), staged.c_str(), mode, 0) != 0) return system_error("set the mode of", path, errno);
  return switch_in(path);
}

Status RootFs::sync() {
  SLIPWAY_TRY(root, root_.open_at("/", O_RDONLY | O_DIRECTORY));
  if (::syncfs(root.get()) != 0) return system_error("sync", root_.folder(), errno);
  for (const auto& [device, fd] : written_filesystems_)
    if (::syncfs(fd->get()) != 0) return system_error("sync a filesystem below", root_.folder(), errno);
  return {};
}

Status RootFs::settle_time(std::string_view path) {
  if (!source_date_epoch_ || !root_.open_at(path, O_PATH | O_NOFOLLOW)) return {};
  SLIPWAY_TRY(place, root_.parent_of(path));
  return base::set_mtime(place.first.get(), place.second, path, now_ns());
}

Status RootFs::settle_directory_times() {
  if (source_date_epoch_)
    for (const std::string& path : changed_directories_) {
      const auto folder = root_.open_at(path, O_RDONLY | O_DIRECTORY);
      if (!folder) continue;  // deleted meanwhile
      const timespec time{*source_date_epoch_, 0};
      const timespec both[] = {time, time};
      if (::futimens(folder->get(), both) != 0) return system_error("set the time of", path, errno);
    }
  changed_directories_.clear();
  return {};
}

}  // namespace slipway::core
