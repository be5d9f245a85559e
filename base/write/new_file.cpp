// SPDX-License-Identifier: Apache-2.0

#include "base/write/new_file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::base {

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
/// For chown(2): keeps the owner that a new file gets by default; some file systems allow no other owner.
constexpr std::uint32_t kAsMade = ~std::uint32_t{0};

std::array<timespec, 2> times(std::int64_t mtime_ns) {
  const timespec time{mtime_ns / kNanoseconds, mtime_ns % kNanoseconds};
  return {time, time};
}

/// Uses only the descriptor: in a folder that other users may write to, the name may mean another file by now.
Status complete(int fd, std::string_view path, const NewFile& wanted) {
  struct stat now {};
  if (::fstat(fd, &now) != 0) return system_error("look at", path, errno);
  const auto is_right = [](std::uint32_t owner, std::uint32_t id) { return id == kAsMade || id == owner; };
  const bool right = is_right(now.st_uid, wanted.uid) && is_right(now.st_gid, wanted.gid);
  if (!right && ::fchown(fd, wanted.uid, wanted.gid) != 0) return system_error("set the owner of", path, errno);
  SLIPWAY_CHECK(write_attributes(fd, path, wanted.attributes));
  // The mode is set after the owner, since chown(2) clears setuid, and after the ACL, whose mask is the group bits.
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
  if (written) written = complete(fd.get(), path, wanted);
  if (!written) ::unlinkat(parent, name.c_str(), 0);
  return written;
}

Status write_and_rename(int parent, const std::string& fresh, const std::string& name, std::string_view path,
                        const NewFile& wanted, const std::function<Status(int fd)>& fill) {
  SLIPWAY_CHECK(write_new_file(parent, fresh, path, wanted, fill));
  if (::renameat(parent, fresh.c_str(), parent, name.c_str()) == 0) return {};
  const int number = errno;
  ::unlinkat(parent, fresh.c_str(), 0);
  if (number != EBUSY) return system_error("replace", path, number);
  const std::string text(path);
  return Error{ErrorCode::conflict,
               text + " cannot be replaced: something is mounted on it",
               text,
               "change the file that is mounted there, or unmount it",
               {}};
}

std::string unique_name(const std::string& beginning) {
  std::uint64_t number = 0;
  (void)!::getrandom(&number, sizeof number, 0);
  std::array<char, 64> tail{};
  std::snprintf(tail.data(), tail.size(), "-%d-%016llx", ::getpid(), static_cast<unsigned long long>(number));
  return beginning + tail.data();
}

NewFile NewFile::ours(unsigned mode) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {mode, kAsMade, kAsMade, std::chrono::nanoseconds(now).count(), {}};
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

Status write_synced(int fd, std::string_view bytes, std::string_view name) {
  SLIPWAY_CHECK(write_all(fd, bytes, name));
  return ::fsync(fd) == 0 ? Status{} : Status(system_error("write", name, errno));
}

}  // namespace slipway::base
