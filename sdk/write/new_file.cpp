// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>
#include <slipway/write/new_file.hpp>

namespace slipway {

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::array<timespec, 2> times(std::int64_t mtime_ns) {
  const timespec time{mtime_ns / kNanoseconds, mtime_ns % kNanoseconds};
  return {time, time};
}

Status complete(int parent, const std::string& name, std::string_view path, int fd, const NewFile& wanted) {
  SLIPWAY_CHECK(set_owner(parent, name, path, wanted.uid, wanted.gid));
  SLIPWAY_CHECK(write_attributes(parent, name, wanted.attributes));
  // After the owner, which clears setuid, and after the ACL, whose mask the group bits are.
  if (::fchmod(fd, wanted.mode) != 0) return system_error("set the mode of", path, errno);
  if (::futimens(fd, times(wanted.mtime_ns).data()) != 0) return system_error("set the time of", path, errno);
  return {};
}

}  // namespace

Status write_new_file(int parent, const std::string& name, std::string_view path, const NewFile& wanted,
                      const std::function<Status(int fd)>& fill) {
  if (::unlinkat(parent, name.c_str(), 0) != 0 && errno != ENOENT) return system_error("replace", path, errno);
  const Fd fd(::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return system_error("create", path, errno);
  Status written = fill(fd.get());
  if (written) written = complete(parent, name, path, fd.get(), wanted);
  if (!written) ::unlinkat(parent, name.c_str(), 0);
  return written;
}

Status set_owner(int parent, const std::string& name, std::string_view path, std::uint32_t uid, std::uint32_t gid) {
  struct stat now {};
  if (::fstatat(parent, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return system_error("look at", path, errno);
  if (now.st_uid == uid && now.st_gid == gid) return {};
  if (::fchownat(parent, name.c_str(), uid, gid, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error("set the owner of", path, errno);
  return {};
}

Status set_mtime(int parent, const std::string& name, std::string_view path, std::int64_t mtime_ns) {
  if (::utimensat(parent, name.c_str(), times(mtime_ns).data(), AT_SYMLINK_NOFOLLOW) != 0)
    return system_error("set the time of", path, errno);
  return {};
}

Status write_all(int fd, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put >= 0) bytes.remove_prefix(static_cast<std::size_t>(put));
    if (put < 0 && errno != EINTR) return system_error("write", name, errno);
  }
  return {};
}

}  // namespace slipway
