// SPDX-License-Identifier: Apache-2.0
// base/write/lock_file.hpp - a lock that dies with its holder, on a file that nobody else can lock.
//
// flock(2) needs no more than a descriptor: whoever may open a folder or a file for reading can lock it and keep others
// out. So the file is for its owner alone, and its folder is one in which nobody else makes or exchanges files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway {

/// The missing folders of that absolute path, each with mode 0755 under the umask; whoever makes one meanwhile is
/// welcome. Errors: those of mkdir(2).
/// @param made  gets those that were missing, outermost first; null: nobody asks
Status make_folders(const RootDir& root, const std::string& path, std::vector<std::string>* made = nullptr);

/// A file FOLDER/NAME, mode 0600, locked for as long as this object, and the process, lives. It is removed at the end,
/// with the folders that were made for it, by a killed holder too, unless somebody else has put something there.
class LockFile {
 public:
  /// Errors: `locked`, at once, naming in the detail "held" the process that holds the lock; `conflict` when the folder
  /// belongs to another user or others may write to it; those of mkdir(2) and open(2).
  static Result<LockFile> take(const RootDir& root, const std::string& folder, const std::string& name);
  LockFile(LockFile&& other) noexcept = default;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  /// What the holder is about, for whoever may read the file; replaces what was noted before. One line.
  void note(const std::string& line) const;
  /// The note of whoever holds the lock now; empty: none, or this user may not read it.
  static std::string noted(const RootDir& root, const std::string& folder, const std::string& name);

  /// "slipway-engine (pid 12)": another process that holds the lock now; empty: none, or it cannot be told. Asks
  /// for no right to open the file.
  static std::string other_holder(const RootDir& root, const std::string& folder, const std::string& name);

 private:
  LockFile(RootDir root, std::string folder, std::string name)
      : root_(std::move(root)), folder_(std::move(folder)), name_(std::move(name)) {}
  Result<bool> try_once();
  void take_over_made();
  void remove_made() const;
  bool write_down(const std::string& note) const;

  RootDir root_;
  std::string folder_;
  std::string name_;
  std::vector<std::string> made_;  ///< folders, outermost first
  Fd place_;                       ///< the folder
  Fd file_;                        ///< none until it is locked
};

/// The process, other than this one, that holds a flock(2) on the inode of that descriptor (/proc/locks); empty: none.
std::string flock_holder(int fd);

}  // namespace slipway
