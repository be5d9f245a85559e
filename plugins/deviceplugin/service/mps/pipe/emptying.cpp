// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/pipe/emptying.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace slipway::deviceplugin {
namespace {

constexpr std::size_t kStepsOfATurn = 100'000;
// The mode that marks an empty folder. Listing the folder instead would take its lock, which a blocked removal holds.
constexpr mode_t kMarked = 0;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

OpenFolder names_of(int folder) {
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  OpenFolder open(own < 0 ? nullptr : ::fdopendir(own));
  if (!open && own >= 0) ::close(own);
  return open;
}

/// Opens a subfolder on the same mount; links are rejected.
Fd folder_in(int above, const std::string& name) {
  open_how how{};
  how.flags = kFolderFlags;
  how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  Fd folder(static_cast<int>(::syscall(SYS_openat2, above, name.c_str(), &how, sizeof how)));
  // Fallback before Linux 5.6, or behind a seccomp filter that does not know openat2.
  if (folder || (errno != ENOSYS && errno != EPERM)) return folder;
  Fd old(::openat(above, name.c_str(), kFolderFlags));
  struct stat inner {};
  struct stat outer {};
  if (old && (::fstat(old.get(), &inner) != 0 || ::fstat(above, &outer) != 0 || inner.st_dev != outer.st_dev)) {
    errno = EXDEV;
    return {};
  }
  return old;
}

/// A name that a writer changes at the same time is not an error: it is read again.
bool is_race(int number) {
  return number == ENOENT || number == ENOTDIR || number == ELOOP || number == EEXIST || number == ENOTEMPTY;
}

class Emptying {
 public:
  Emptying(int folder, std::size_t most) : folder_(folder), most_(most) {}
  Emptied run() {
    return empty(folder_, [this](const std::string& name) { return remove(name); });
  }

 private:
  /// @param remove  removes a name; returns false without success
  /// Does not restart the listing after a removal: some file systems would then skip all removed names each time.
  template <typename Remove>
  Emptied empty(int folder, const Remove& remove) {
    const OpenFolder names = names_of(folder);
    bool moves = names != nullptr;
    while (moves) {
      moves = false;
      bool any = false;
      ::rewinddir(names.get());
      errno = 0;
      while (const dirent* const entry = ::readdir(names.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (++steps_ > most_) return Emptied::some;
        any = true;
        if (remove(name)) moves = true;
        errno = 0;
      }
      if (errno == 0 && !any) return Emptied::all;
    }
    return Emptied::stuck;
  }

  bool remove(const std::string& name) {
    if (::unlinkat(folder_, name.c_str(), 0) == 0 || is_race(errno)) return true;
    if (errno != EISDIR) return false;
    if (::unlinkat(folder_, name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (!is_race(errno)) return false;
    const Fd inner = folder_in(folder_, name);
    if (!inner) return is_race(errno);
    return empty(inner.get(), [&](const std::string& each) { return remove_inner(inner.get(), each); }) !=
           Emptied::stuck;
  }

  bool remove_inner(int folder, const std::string& name) {
    if (::unlinkat(folder, name.c_str(), 0) == 0 || is_race(errno)) return true;
    if (errno != EISDIR) return false;
    const std::string fresh = ".slipway-" + std::to_string(number_++);
    return ::renameat(folder, name.c_str(), folder_, fresh.c_str()) == 0 || is_race(errno);
  }

  int folder_;
  std::size_t most_;
  std::size_t steps_ = 0;
  // A number that no other process and no earlier call has used: a call uses fewer numbers than the ticks of the clock
  // that it takes.
  std::int64_t number_ = std::chrono::steady_clock::now().time_since_epoch().count();
};

}  // namespace

Fd open_folder(const std::string& path) { return Fd(::open(path.c_str(), kFolderFlags)); }

Emptied empty_folder(const Fd& folder, std::size_t most) { return Emptying(folder.get(), most).run(); }

void empty_aside(const std::string& path) {
  const Fd folder = open_folder(path);
  Emptied done = folder ? Emptied::some : Emptied::stuck;
  while (done == Emptied::some) done = empty_folder(folder, kStepsOfATurn);
  if (done == Emptied::all) (void)::fchmod(folder.get(), kMarked);
}

bool emptied_aside(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && (info.st_mode & 07777U) == kMarked;
}

}  // namespace slipway::deviceplugin
