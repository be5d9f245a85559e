// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write/lock_file.hpp"
#include "base/write/new_file.hpp"

namespace slipway::base {
namespace {

constexpr unsigned kPermissionBits = 07777;

/// Returns the attributes that the new file copies from the former one.
Result<NewFile> like(int parent, const std::string& name, const std::string& path) {
  NewFile wanted = NewFile::ours(0644);
  struct stat former {};
  if (::fstatat(parent, name.c_str(), &former, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return wanted;
    return system_error("look at", path, errno);
  }
  if (!S_ISREG(former.st_mode))
    return Error{ErrorCode::conflict,
                 path + " cannot be replaced: it is not a regular file",
                 path,
                 "move it out of the way",
                 {}};
  wanted.mode = former.st_mode & kPermissionBits;
  wanted.uid = former.st_uid;
  wanted.gid = former.st_gid;
  wanted.attributes = read_attributes(parent, name);
  return wanted;
}

/// Does what the kernel does with fs.protected_symlinks: in a folder where every user may write, it does not follow a
/// link of a user other than the folder's owner. (This code reads the link, so the kernel does not check it.)
Status check_link(const RootDir& root, const std::string& path) {
  const auto place = root.parent_of(path);
  struct stat folder {};
  struct stat link {};
  if (!place || ::fstatat(place->first.get(), place->second.c_str(), &link, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISLNK(link.st_mode) || ::fstat(place->first.get(), &folder) != 0)
    return {};
  if ((folder.st_mode & S_IWOTH) == 0 || link.st_uid == folder.st_uid || link.st_uid == ::geteuid()) return {};
  return Error{ErrorCode::denied,
               path + " is a link that user " + std::to_string(link.st_uid) +
                   " made in a folder in which all users may write: it is not followed",
               path,
               "remove the link, or name a file in a folder that belongs to root",
               {}};
}

Status sync_folder(const Fd& folder, const std::string& path) {
  if (!folder || ::fsync(folder.get()) != 0) return system_error("write", path, errno);
  return {};
}

}  // namespace

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status replace_file(const RootDir& root, const std::string& path, std::string_view content) {
  SLIPWAY_CHECK(check_link(root, path));
  const std::string real = root.resolve(path).value_or(path);
  const std::string folder = folder_of(real);
  if (folder != "/" && folder != ".") SLIPWAY_CHECK(make_folders(root, folder));
  SLIPWAY_TRY(place, root.parent_of(real));
  const auto& [parent, name] = place;
  SLIPWAY_TRY(wanted, like(parent.get(), name, real));
  SLIPWAY_CHECK(write_and_rename(parent.get(), name + kNewSuffix, name, real, wanted,
                                 [&](int fd) { return write_synced(fd, content, real); }));
  SLIPWAY_TRY(changed, root.open_at(folder, O_RDONLY | O_DIRECTORY));
  return sync_folder(changed, folder);
}

Status put_file(const std::string& path, std::string_view content, const NewFile& wanted, bool synced) {
  const std::string folder = folder_of(path);
  const std::string name = path.substr(path.rfind('/') + 1);
  const Fd parent(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return system_error("write", path, errno);
  SLIPWAY_CHECK(write_and_rename(parent.get(), unique_name(name + kNewSuffix), name, path, wanted, [&](int fd) {
    return synced ? write_synced(fd, content, path) : write_all(fd, content, path);
  }));
  if (!synced) return {};
  return sync_folder(Fd(::openat(parent.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), folder);
}

}  // namespace slipway::base
