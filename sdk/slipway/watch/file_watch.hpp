// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/watch/file_watch.hpp - notices when files appear, disappear or change, without polling (inotify).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

/// Watches paths inside a root folder through one descriptor. Used by one thread.
///
/// A path need not exist, nor its folders: each existing folder on the way is watched for the next name of the path, so
/// that folders may be missing at first, be emptied, removed, replaced and created again. Links are followed inside the
/// root, as by RootDir, and watched themselves.
///
/// A path has changed when it appears, disappears, is replaced or gets other attributes; a regular file also when a
/// program that wrote to it closes it; a folder also when one of its entries appears, disappears, is replaced or is
/// closed after a write. Changes that inotify does not report are not noticed: a file system mounted over a folder,
/// /proc and /sys, files that another machine changes. For those, call look() from time to time.
class FileWatch {
 public:
  static constexpr std::size_t kMostPaths = 256;

  /// Starts watching; the present state is the one to compare with.
  /// @param paths  absolute inside the root, at most kMostPaths
  /// Errors: `invalid` a path is relative, or there are too many; system errors, mostly the user's limit of inotify
  /// instances (fs.inotify.max_user_instances).
  static Result<FileWatch> open(RootDir root, std::vector<std::string> paths = {});

  /// Watches these paths from now on, and no others. Errors: `invalid`; the watched paths are then unchanged.
  Status watch(std::vector<std::string> paths);
  /// Returns a descriptor that is readable when take() has work.
  int fd() const { return events_.get(); }
  /// Handles the pending events; does not wait.
  /// @return true when a path has changed since the last call, or when there were too many events to tell
  bool take();
  /// Like take(), but checks every path even without an event.
  bool look();
  /// The reason why a part of a path is not watched, "cannot watch /a/b: Permission denied"; empty: all are watched.
  const std::string& problem() const { return problem_; }

 private:
  class Walk;
  /// The identity of a file: another file under the same name differs.
  struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    mode_t mode = 0;
    std::int64_t changed_ns = 0;  ///< ctime: inode numbers are reused
    bool operator==(const FileIdentity&) const = default;
  };
  struct Watched {
    std::uint32_t mask = 0;
    std::set<std::string, std::less<>> steps;  ///< names on the way to a path
    std::set<std::string, std::less<>> ends;   ///< last names of paths
    bool is_end = false;                       ///< a path names this file or folder
  };
  enum class News { none, moved, changed };

  FileWatch(RootDir root, Fd events) : root_(std::move(root)), events_(std::move(events)) {}
  News drain();
  News news_of(int number, std::uint32_t mask, std::string_view name);
  bool walk();

  RootDir root_;
  Fd events_;
  std::vector<std::string> paths_;
  std::map<int, Watched> watched_;                 ///< by inotify's watch number
  std::vector<std::optional<FileIdentity>> seen_;  ///< for each path; empty: it does not exist
  std::string problem_;
};

}  // namespace slipway
