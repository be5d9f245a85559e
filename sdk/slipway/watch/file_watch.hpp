// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/watch/file_watch.hpp - notices that files appear, vanish or change, without looking again and again
// (inotify).
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
/// A path need not exist, nor its folders: each folder on the way that exists is watched for the next name of the path,
/// so that folders may be missing at first, be emptied, removed, replaced and made again. Links are followed inside the
/// root, as RootDir does, and watched themselves.
///
/// A path has changed when it appears, vanishes, is replaced or gets other attributes; a regular file also when a
/// program that wrote to it closes it; a folder also when one of its entries appears, vanishes, is replaced or is
/// closed after a write. What inotify does not report is not noticed: a file system that is mounted over a folder,
/// /proc and /sys, files that another machine changes. A caller that cannot live with that calls look() once in a
/// while.
class FileWatch {
 public:
  static constexpr std::size_t kMostPaths = 256;

  /// What is there now is the state that changes are told from.
  /// @param paths  absolute inside the root, at most kMostPaths
  /// Errors: `invalid` a path is relative, or there are too many; system errors, mostly the user's limit of inotify
  /// instances (fs.inotify.max_user_instances).
  static Result<FileWatch> open(RootDir root, std::vector<std::string> paths = {});

  /// Watches these paths from now on, and no others. Errors: `invalid`, and then nothing has changed.
  Status watch(std::vector<std::string> paths);
  /// Can be read when take() has something to do.
  int fd() const { return events_.get(); }
  /// Takes what has happened; does not wait.
  /// @return whether a path has changed since the last call, or so much happened that nobody can tell
  bool take();
  /// As take(), and looks at every path, whether something was reported or not.
  bool look();
  /// Why a part of a path is not watched, as "cannot watch /a/b: Permission denied"; empty: all are watched.
  const std::string& problem() const { return problem_; }

 private:
  class Walk;
  /// A file as it was seen; another file under the same name differs.
  struct Seen {
    dev_t device = 0;
    ino_t inode = 0;
    mode_t mode = 0;
    std::int64_t changed_ns = 0;  ///< ctime: inode numbers are used again
    bool operator==(const Seen&) const = default;
  };
  struct Watched {
    std::uint32_t mask = 0;
    std::set<std::string, std::less<>> steps;  ///< names that lead on to a path
    std::set<std::string, std::less<>> ends;   ///< names that a path ends with
    bool is_end = false;                       ///< this file or folder is what a path names
  };
  enum class News { none, moved, changed };

  FileWatch(RootDir root, Fd events) : root_(std::move(root)), events_(std::move(events)) {}
  News drain();
  News news_of(int number, std::uint32_t mask, std::string_view name);
  bool walk();

  RootDir root_;
  Fd events_;
  std::vector<std::string> paths_;
  std::map<int, Watched> watched_;         ///< by inotify's number
  std::vector<std::optional<Seen>> seen_;  ///< of each path; empty: it does not exist
  std::string problem_;
};

}  // namespace slipway
