// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "root_walk.hpp"

namespace slipway {
namespace {

/// Calls openat2(2) below `root`; -1 and errno on failure.
int kernel_open(int root, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  how.mode = creates ? mode : 0;  // the kernel refuses a mode that it would not use
  how.resolve = RESOLVE_IN_ROOT;
  constexpr int kTries = 100;  // EAGAIN: a part of the path was renamed meanwhile
  long fd = -1;
  for (int i = 0; i < kTries; ++i) {
    fd = syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return static_cast<int>(fd);
}

int open_below(int root, const std::string& path, int flags, mode_t mode) {
  static std::atomic<bool> kernel_has_openat2{true};
  if (kernel_has_openat2.load(std::memory_order_relaxed)) {
    const int fd = kernel_open(root, path, flags, mode);
    // Seccomp filters older than openat2 answer EPERM; the walk returns a real EPERM as well.
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
    if (errno == ENOSYS) kernel_has_openat2.store(false, std::memory_order_relaxed);
  }
  return detail::walk_open(root, path, flags, mode);
}

Error no_path(std::string_view path, const std::string& why) {
  return Error{ErrorCode::invalid, "'" + std::string(path) + "' " + why, std::string(path), {}, {}};
}

/// Returns the kernel's path of the descriptor's file; empty when /proc is missing or the path is too long for it.
std::string path_of(int fd) {
  std::array<char, PATH_MAX> text;
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = readlink(link.c_str(), text.data(), text.size());
  if (length <= 0 || static_cast<std::size_t>(length) == text.size()) return {};
  return {text.data(), static_cast<std::size_t>(length)};
}

/// Returns the path of a file below `root` as seen from inside; empty when its path does not tell: it was removed
/// meanwhile, a mount hides it, or /proc is a folder of an image.
std::string path_inside(int root, int file) {
  std::string path = path_of(file);
  std::string base = path_of(root);
  if (base == "/") base.clear();
  if (!path.starts_with("/") || path.ends_with(" (deleted)") || !path.starts_with(base)) return {};
  path.erase(0, base.size());
  if (path.empty()) return "/";
  if (!path.starts_with("/")) return {};
  struct stat named {
  }, opened{};
  const bool is_it = fstatat(root, path.c_str() + 1, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &opened) == 0 &&
                     named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
  return is_it ? path : std::string();
}

bool has_nul(std::string_view path) { return path.find('\0') != std::string_view::npos; }

}  // namespace

Result<RootDir> RootDir::open(const std::string& folder) {
  Fd fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fd) return RootDir(folder, std::move(fd));
  Error error = system_error("open", folder, errno);
  if (errno == ENOTDIR) error.code = ErrorCode::invalid;
  return error;
}

Result<Fd> RootDir::open_at(std::string_view path, int flags, mode_t mode) const {
  if (has_nul(path)) return no_path(path, "has a NUL byte in it");
  Fd fd(open_below(fd_->get(), std::string(path), flags, mode));
  if (!fd) return system_error("open", path, errno);
  return fd;
}

Result<std::pair<Fd, std::string>> RootDir::parent_of(std::string_view path) const {
  std::string_view trimmed = path;
  while (trimmed.ends_with('/')) trimmed.remove_suffix(1);
  const std::size_t slash = trimmed.rfind('/');
  const std::string name(slash == std::string_view::npos ? trimmed : trimmed.substr(slash + 1));
  if (name.empty() || name == "." || name == "..") return no_path(path, "does not name something inside a folder");
  const std::string_view folder =
      slash == std::string_view::npos ? std::string_view("/") : trimmed.substr(0, slash + 1);
  SLIPWAY_TRY(fd, open_at(folder, O_PATH | O_DIRECTORY));
  return std::pair(std::move(fd), name);
}

Result<std::string> RootDir::resolve(std::string_view path) const {
  if (has_nul(path)) return no_path(path, "has a NUL byte in it");
  // One look-up by the kernel instead of one for each name, when both give the same result.
  if (const Fd file(open_below(fd_->get(), std::string(path), O_PATH, 0)); file) {
    if (std::string inside = path_inside(fd_->get(), file.get()); !inside.empty()) return inside;
  } else if (errno == ENOENT || errno == ENOTDIR) {
    return system_error("resolve", path, errno);
  }
  detail::RootWalk walk(fd_->get());
  if (const int error = walk.go(path, true); error != 0) return system_error("resolve", path, error);
  struct stat info {};
  if (!walk.last().empty() && fstatat(walk.folder(), walk.last().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error("resolve", path, errno);
  return walk.path();
}

}  // namespace slipway
