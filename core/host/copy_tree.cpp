// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "core/host/files.hpp"

namespace slipway::core {
namespace {

Status copy_file(int from, int to, const std::string& name, const struct stat& info, const std::string& path) {
  SLIPWAY_TRY(source, open_regular(from, name, path, O_NOFOLLOW));
  const Fd target(::openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!target) return system_error("create", path, errno);
  if (::ioctl(target.get(), FICLONE, source.get()) != 0) SLIPWAY_CHECK(copy_all(source.get(), target.get(), path));
  const std::array times{info.st_atim, info.st_mtim};
  if (::fchmod(target.get(), info.st_mode & kPermissionBits) != 0 || ::futimens(target.get(), times.data()) != 0)
    return system_error("set mode and time of", path, errno);
  return {};
}

Status copy_link(int from, int to, const std::string& name, const struct stat& info, const std::string& path) {
  SLIPWAY_TRY(target, read_link_name(from, name, path));
  if (::symlinkat(target.c_str(), to, name.c_str()) != 0) return system_error("make the link", path, errno);
  const std::array times{info.st_atim, info.st_mtim};
  ::utimensat(to, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  return {};
}

Status copy_folder(int from, int to, const std::string& path);

Status copy_entry(int from, int to, const std::string& name, const std::string& path) {
  struct stat info {};
  if (::fstatat(from, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return system_error("look at", path, errno);
  if (S_ISREG(info.st_mode)) return copy_file(from, to, name, info, path);
  if (S_ISLNK(info.st_mode)) return copy_link(from, to, name, info, path);
  if (!S_ISDIR(info.st_mode)) return {};
  if (::mkdirat(to, name.c_str(), 0700) != 0) return system_error("make the folder", path, errno);
  const Fd source(::openat(from, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const Fd target(::openat(to, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!source || !target) return system_error("open", path, errno);
  SLIPWAY_CHECK(copy_folder(source.get(), target.get(), path));
  const std::array times{info.st_atim, info.st_mtim};
  if (::fchmod(target.get(), info.st_mode & kPermissionBits) != 0 || ::futimens(target.get(), times.data()) != 0)
    return system_error("set mode and time of", path, errno);
  return {};
}

Status copy_folder(int from, int to, const std::string& path) {
  SLIPWAY_TRY(names, folder_names(from, path));
  for (const std::string& name : names) SLIPWAY_CHECK(copy_entry(from, to, name, path + "/" + name));
  return {};
}

}  // namespace

Status copy_tree(const std::string& from, const std::string& to) {
  const Fd source(::open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!source) return system_error("open", from, errno);
  if (::mkdir(to.c_str(), 0755) != 0) return system_error("make the folder", to, errno);
  const Fd target(::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!target) return system_error("open", to, errno);
  return copy_folder(source.get(), target.get(), to);
}

}  // namespace slipway::core
