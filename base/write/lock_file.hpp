// SPDX-License-Identifier: Apache-2.0
// base/write/lock_file.hpp - a lock that ends with its holder, on a file that no other user can lock.
//
// flock(2) only needs a descriptor: any user who may open a folder or a file for reading can lock it. So only its owner
// may open the file, and it is in a folder where no other user creates or replaces files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::base {

/// Creates the missing folders of that absolute path, each with mode 0755 under the umask; another process may create
/// one at the same time. Errors: those of mkdir(2).
/// @param made  receives the folders that were missing, outermost first; may be null
Status make_folders(const RootDir& root, const std::string& path, std::vector<std::string>* made = nullptr);

/// A file FOLDER/NAME, mode 0600, locked as long as this object and the process exist. At the end it is removed, with
/// the folders that were made for it (also by a killed holder), unless another process has put something there.
class LockFile {
 public:
  /// Errors: `locked`, at once, naming in the detail "held" the process that holds the lock; `conflict` when the folder
  /// belongs to another user or other users may write to it; those of mkdir(2) and open(2).
  static Result<LockFile> take(const RootDir& root, const std::string& folder, const std::string& name);
  LockFile(LockFile&& other) noexcept = default;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  /// Notes the holder's current work, for users who may read the file; replaces the former note. One line.
  void note(const std::string& line) const;
  /// Returns the note of the present holder; empty if not found, or this user may not read it.
  static std::string noted(const RootDir& root, const std::string& folder, const std::string& name);

  /// Returns another process that holds the lock, "slipway-engine (pid 12)"; empty if not found or it is unknown.
  /// Needs no permission to open the file.
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
  Fd file_;                        ///< unset until it is locked
};

/// Returns another process that holds a flock(2) on the descriptor's inode (/proc/locks); empty if not found.
std::string flock_holder(int fd);

}  // namespace slipway::base
