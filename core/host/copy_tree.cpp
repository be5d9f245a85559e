// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "base/write/tree.hpp"
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

Status make_folder(int above, const std::string& name, const std::string& path, std::vector<Fd>& open) {
  if (::mkdirat(above, name.c_str(), 0700) != 0) return system_error("make the folder", path, errno);
  open.emplace_back(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return open.back() ? Status{} : Status(system_error("open", path, errno));
}

Status finish_folder(const Fd& folder, const struct stat& info, const std::string& path) {
  const std::array times{info.st_atim, info.st_mtim};
  if (::fchmod(folder.get(), info.st_mode & kPermissionBits) != 0 || ::futimens(folder.get(), times.data()) != 0)
    return system_error("set mode and time of", path, errno);
  return {};
}

}  // namespace

Status copy_tree(const std::string& from, const std::string& to) {
  const Fd source(::open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!source) return system_error("open", from, errno);
  if (::mkdir(to.c_str(), 0755) != 0) return system_error("make the folder", to, errno);
  std::vector<Fd> open;  // the folders that the walk is in, as they are created
  open.emplace_back(::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open.back()) return system_error("open", to, errno);
  const auto enter = [&](const base::TreeEntry& entry) -> Result<bool> {
    const std::string path = to + "/" + entry.path;
    const int target = open.back().get();
    if (S_ISREG(entry.info.st_mode)) SLIPWAY_CHECK(copy_file(entry.folder, target, entry.name, entry.info, path));
    if (S_ISLNK(entry.info.st_mode)) SLIPWAY_CHECK(copy_link(entry.folder, target, entry.name, entry.info, path));
    if (S_ISDIR(entry.info.st_mode)) SLIPWAY_CHECK(make_folder(target, entry.name, path, open));
    return true;
  };
  const auto leave = [&](const base::TreeEntry& entry) -> Status {
    SLIPWAY_CHECK(finish_folder(open.back(), entry.info, to + "/" + entry.path));
    open.pop_back();
    return {};
  };
  return base::walk_tree(source.get(), from, {.enter = enter, .leave = leave});
}

}  // namespace slipway::core
