// SPDX-License-Identifier: Apache-2.0
#include "base/write/tree.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <slipway/fd.hpp>

#include "base/write/new_file.hpp"

namespace slipway::base {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Returns the first names of a folder, without "." and "..". @param most  the maximum; 0: all
Result<std::vector<std::string>> names_of(int folder, const std::string& path, std::size_t most) {
  Fd own(::openat(folder, ".", kFolder));  // with its own position
  if (!own) return system_error("open", path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), &::closedir);
  if (!stream) return system_error("list", path, errno);
  (void)own.release();  // the stream owns it now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
    if (names.size() == most && most > 0) break;
  }
  if (errno != 0) return system_error("list", path, errno);
  return names;
}

/// A folder being walked.
struct Level {
  std::string name;
  struct stat info {};
  Fd folder;
  std::vector<std::string> names;
  std::size_t next = 0;
};

Result<Level> level_of(Fd folder, std::string name, const struct stat& info, const std::string& path) {
  SLIPWAY_TRY(names, names_of(folder.get(), path, 0));
  std::ranges::sort(names);
  return Level{std::move(name), info, std::move(folder), std::move(names)};
}

/// A folder being removed: its name in the parent, which is not open meanwhile.
struct Removed {
  std::string name;
  dev_t device = 0;  ///< of the parent folder, with `inode`
  ino_t inode = 0;
  std::vector<std::string> names;  ///< of the parent folder: the remaining names of those that were read
};

constexpr std::size_t kNamesAtOnce = 256;

class Removal {
 public:
  Removal(Fd top, std::string path) : at_(std::move(top)), path_(std::move(path)) {}

  /// Removes the contents of the folder.
  Status run() {
    struct stat info {};
    if (::fstat(at_.get(), &info) != 0) return system_error("look at", path_, errno);
    device_ = info.st_dev;
    for (;;) {
      if (names_.empty()) {
        SLIPWAY_TRY(names, names_of(at_.get(), path_, kNamesAtOnce));
        names_ = std::move(names);
      }
      if (!names_.empty()) {
        SLIPWAY_CHECK(remove_next());
      } else if (above_.empty()) {
        return {};
      } else {
        SLIPWAY_CHECK(go_up());
      }
    }
  }

 private:
  Status failed(const std::string& name, int number) const {
    return system_error("remove", path_ + "/" + name, number);
  }

  /// Removes the last name, or enters it.
  Status remove_next() {
    std::string name = std::move(names_.back());
    names_.pop_back();
    if (::unlinkat(at_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM) return failed(name, errno);
    if (::unlinkat(at_.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    if (errno != ENOTEMPTY && errno != EEXIST) return failed(name, errno);
    Fd below(::openat(at_.get(), name.c_str(), kFolder));
    struct stat here {};
    struct stat info {};
    if (!below || ::fstat(at_.get(), &here) != 0 || ::fstat(below.get(), &info) != 0) return failed(name, errno);
    if (info.st_dev != device_) return failed(name, EBUSY);
    path_ += "/" + name;
    above_.push_back({std::move(name), here.st_dev, here.st_ino, std::move(names_)});
    names_.clear();
    at_ = std::move(below);
    return {};
  }

  /// Removes the folder, which is empty, from its parent. The parent is opened by "..", and must be the one that the
  /// walk came from: another process may have moved the folder meanwhile.
  Status go_up() {
    Removed& level = above_.back();
    Fd above(::openat(at_.get(), "..", kFolder));
    struct stat info {};
    if (!above || ::fstat(above.get(), &info) != 0) return system_error("remove", path_, errno);
    if (info.st_dev != level.device || info.st_ino != level.inode)
      return Error{.code = ErrorCode::conflict,
                   .what = path_ + " was moved while slipway was removing it",
                   .where = path_,
                   .next = "find out which program changes the folder, and run the same command again",
                   .details = {}};
    if (::unlinkat(above.get(), level.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT && errno != ENOTEMPTY)
      return system_error("remove", path_, errno);
    path_.resize(path_.size() - level.name.size() - 1);
    at_ = std::move(above);
    names_ = std::move(level.names);
    above_.pop_back();
    return {};
  }

  Fd at_;
  std::string path_;
  dev_t device_ = 0;
  std::vector<std::string> names_;
  std::vector<Removed> above_;
};

}  // namespace

Status walk_tree(int folder, const std::string& path, const TreeVisitor& visitor) {
  Fd top(::openat(folder, ".", kFolder));
  if (!top) return system_error("open", path, errno);
  std::vector<Level> levels;
  SLIPWAY_TRY(first, level_of(std::move(top), "", {}, path));
  levels.push_back(std::move(first));
  std::string inside;
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.names.size()) {
      const Level done = std::move(level);
      levels.pop_back();
      if (levels.empty()) break;
      if (visitor.leave) SLIPWAY_CHECK(visitor.leave({levels.back().folder.get(), done.name, inside, done.info}));
      inside.resize(inside.size() - std::min(inside.size(), done.name.size() + 1));
      continue;
    }
    const std::string name = level.names[level.next++];
    const std::string below = inside.empty() ? name : inside + "/" + name;
    struct stat info {};
    if (::fstatat(level.folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // it disappeared meanwhile
      return system_error("look at", path + "/" + below, errno);
    }
    SLIPWAY_TRY(walks, visitor.enter({level.folder.get(), name, below, info}));
    if (!walks || !S_ISDIR(info.st_mode)) continue;
    if (levels.size() == kDeepestFolder)
      return Error{.code = ErrorCode::invalid,
                   .what = path + " has folders that are nested deeper than " + std::to_string(kDeepestFolder),
                   .where = path + "/" + below,
                   .next = "find out who made them, and remove them",
                   .details = {}};
    Fd opened(::openat(level.folder.get(), name.c_str(), kFolder));
    if (!opened) return system_error("open", path + "/" + below, errno);
    SLIPWAY_TRY(next, level_of(std::move(opened), name, info, path + "/" + below));
    inside = below;
    levels.push_back(std::move(next));
  }
  return {};
}

Status remove_tree(int parent, const std::string& name, const std::string& path) {
  // In a read-only file system the kernel returns EROFS before it checks whether the name exists.
  struct stat info {};
  if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) return {};
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return system_error("remove", path, errno);
  Fd folder(::openat(parent, name.c_str(), kFolder));
  struct stat above {};
  if (!folder || ::fstat(parent, &above) != 0 || ::fstat(folder.get(), &info) != 0)
    return system_error("remove", path, errno);
  if (info.st_dev != above.st_dev) return system_error("remove", path, EBUSY);
  SLIPWAY_CHECK(Removal(std::move(folder), path).run());
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return system_error("remove", path, errno);
}

Status remove_tree(const std::string& path) {
  std::string whole = path;
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  const std::string folder = folder_of(whole);
  const Fd parent(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return errno == ENOENT ? Status{} : Status(system_error("remove", path, errno));
  return remove_tree(parent.get(), whole.substr(whole.rfind('/') + 1), whole);
}

}  // namespace slipway::base
