// SPDX-License-Identifier: Apache-2.0
#include "core/engine/root_lock.hpp"

#include <cerrno>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slipway::core {
namespace {

/// "slipway (pid 12)" of the other process that holds a lock on that inode, from /proc/locks; empty when there is none
/// or it cannot be told.
std::string holder_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, type, advisory, access, pid, place;
    words >> number >> type >> advisory >> access >> pid >> place;
    if (type != "FLOCK" || !place.ends_with(":" + std::to_string(info.st_ino))) continue;
    if (pid == std::to_string(::getpid())) continue;
    std::ifstream comm("/proc/" + pid + "/comm");
    std::string name;
    std::getline(comm, name);
    return name + " (pid " + pid + ")";
  }
  return {};
}

}  // namespace

Result<RootLock> RootLock::take(const std::string& root) {
  Fd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error("open", root, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return RootLock(std::move(fd));
  if (errno != EWOULDBLOCK) return system_error("lock", root, errno);
  Error error{ErrorCode::busy,
              "another slipway is changing this root",
              root,
              "wait until it has ended, then run the same command again",
              {}};
  if (const std::string holder = holder_of(fd.get()); !holder.empty()) error.details.emplace_back("held", holder);
  return error;
}

std::string RootLock::other_holder(const std::string& root) {
  const Fd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return {};
  // The lock is not asked as long as nobody is named: to have it for a moment would end an apply that begins then. The
  // list has numbers of inodes, which another file system may have as well, so after that the lock itself decides.
  const std::string holder = holder_of(fd.get());
  if (holder.empty() || ::flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return holder;
}

}  // namespace slipway::core
