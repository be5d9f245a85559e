// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/pipe_folder.hpp"

#include <cerrno>
#include <cstdio>
#include <optional>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {
namespace {

constexpr std::size_t kNamesAtOnce = 1'024;
constexpr int kMostAside = 64;  // each takes a pod that has the folder which came after the last one

/// Some of the names in a folder; nothing when they cannot be read.
std::optional<std::vector<std::string>> names_in(int folder) {
  std::vector<std::string> names;
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const open = own < 0 ? nullptr : ::fdopendir(own);
  if (open == nullptr) {
    if (own >= 0) ::close(own);
    return std::nullopt;
  }
  while (const dirent* const entry = names.size() < kNamesAtOnce ? ::readdir(open) : nullptr)
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  ::closedir(open);
  return names;
}

/// A folder in a folder, of the same mount and no link.
Fd folder_in(int above, const std::string& name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  Fd folder(static_cast<int>(::syscall(SYS_openat2, above, name.c_str(), &how, sizeof how)));
  if (folder || errno != ENOSYS) return folder;
  Fd old(::openat(above, name.c_str(), kFlags));  // before Linux 5.6
  struct stat inner {};
  struct stat outer {};
  if (old && (::fstat(old.get(), &inner) != 0 || ::fstat(above, &outer) != 0 || inner.st_dev != outer.st_dev)) {
    errno = EXDEV;
    return {};
  }
  return old;
}

/// One emptying. Folders in folders are moved up and emptied there, so that nothing nests deeper than two.
class Emptying {
 public:
  Emptying(const Fd& folder, std::size_t most) : folder_(folder), most_(most) {}

  /// @return false: something is in the way, or there is too much
  bool run() {
    struct stat info {};
    // A pod may have given it away, or closed it: the service has no power over files but its own.
    if (::fstat(folder_.get(), &info) != 0 || info.st_uid != ::geteuid()) return false;
    if ((info.st_mode & S_IRWXU) != S_IRWXU && ::fchmod(folder_.get(), (info.st_mode & 07777U) | S_IRWXU) != 0)
      return false;
    auto names = names_in(folder_.get());
    for (; names && !names->empty(); names = names_in(folder_.get()))
      for (const std::string& name : *names)
        if (!remove(name)) return false;
    return names.has_value();
  }

 private:
  /// A race with who writes there is no failure: the name is looked at again.
  static bool is_race(int number) {
    return number == ENOENT || number == ENOTDIR || number == ELOOP || number == EEXIST || number == ENOTEMPTY;
  }

  bool remove(const std::string& name) {
    if (++steps_ > most_) return false;
    if (::unlinkat(folder_.get(), name.c_str(), 0) == 0 || is_race(errno)) return true;
    if (errno != EISDIR) return false;
    if (::unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (!is_race(errno)) return false;
    const Fd inner = folder_in(folder_.get(), name);
    if (!inner) return is_race(errno);
    auto names = names_in(inner.get());
    for (; names && !names->empty(); names = names_in(inner.get()))
      for (const std::string& each : *names)
        if (!remove_inner(inner.get(), each)) return false;
    return names.has_value();
  }

  bool remove_inner(int folder, const std::string& name) {
    if (++steps_ > most_) return false;
    if (::unlinkat(folder, name.c_str(), 0) == 0 || is_race(errno)) return true;
    if (errno != EISDIR) return false;
    const std::string fresh = ".slipway-" + std::to_string(steps_);
    return ::renameat(folder, name.c_str(), folder_.get(), fresh.c_str()) == 0 || is_race(errno);
  }

  const Fd& folder_;
  std::size_t most_;
  std::size_t steps_ = 0;
};

}  // namespace

Status renew_pipe_folder(const std::string& path, std::size_t most) {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder && Emptying(folder, most).run()) return {};
  for (int i = 0; i < kMostAside; ++i) {
    if (::rename(path.c_str(), (path + ".aside-" + std::to_string(i)).c_str()) == 0 || errno == ENOENT) return {};
    if (errno != EEXIST && errno != ENOTEMPTY) break;
  }
  Error error = system_error("move aside", path, errno);
  error.next = "look for pods that write there, and remove " + path + ".aside-*";
  return error;
}

}  // namespace slipway::deviceplugin
