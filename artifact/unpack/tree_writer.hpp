// SPDX-License-Identifier: Apache-2.0
// artifact/unpack/tree_writer.hpp - writes files into one new folder, and nowhere else.
//
// Every name is walked part by part from the folder's own descriptor without following a link, and no existing file is
// ever opened: whatever a layer contains, no byte is written outside. Names are clean ones (entry_rules.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// The time of the last change: seconds since 1970.
struct EntryTime {
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;
};

/// A regular file being written.
class NewFile {
 public:
  NewFile(Fd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  /// Errors: `no_space`, `io`, …
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Sets length, owner, mode and time, then closes it. Does not sync it to the disk.
  Status finish(std::uint64_t size, std::uint32_t mode, EntryTime time);

 private:
  Fd fd_;
  std::string name_;
  std::uint64_t end_ = 0;  ///< the end of the written part
};

/// The folder being filled. Not thread-safe. Folders without an entry of their own get mode 0755 and `implicit_time`.
class TreeWriter {
 public:
  /// `into` must not exist, or be an empty folder; its parent must exist.
  /// Errors: `conflict` when it is not empty; `no_space`, `read_only`, `denied`, …
  static Result<TreeWriter> create(const std::string& into, EntryTime implicit_time);

  /// Errors of all of these: `denied` when a name exists twice or its path has something that is not a folder; those of
  /// the system.
  Status add_directory(const std::string& name, std::uint32_t mode, EntryTime time);
  Result<NewFile> add_file(const std::string& name);
  Status add_symlink(const std::string& name, const std::string& target, EntryTime time);
  /// `target` must be a regular file that was added before.
  Status add_hard_link(const std::string& name, const std::string& target);

  /// Checks the remaining links, and sets the folders' modes and times.
  Status finish();
  /// Syncs everything on this filesystem to the disk. Errors: `io`, `no_space`: the written data is not safe.
  Status sync();

 private:
  struct Folder {
    std::uint32_t mode = 0755;
    EntryTime time;
    bool described = false;  ///< its own entry gave mode and time
  };
  struct OpenFolder {
    std::string name;  ///< the whole path
    Fd fd;
  };
  struct WaitingLink {
    std::string name;
    std::string target;
    std::vector<std::string> must_be_folders;
  };

  TreeWriter(std::string into, Fd root, EntryTime implicit_time);
  Result<int> open_folder(std::string_view name, bool create);
  Result<int> open_parent(std::string_view name) { return open_folder(parent_name(name), true); }
  static std::string_view parent_name(std::string_view name);
  static std::string last_part(std::string_view name);
  std::string full(std::string_view name) const;

  std::string into_;
  Fd root_;
  EntryTime implicit_time_;
  bool own_to_root_;
  std::map<std::string, Folder> folders_;
  std::vector<OpenFolder> open_;  ///< the folders on the way to the last used one, outermost first
  std::vector<WaitingLink> waiting_;
};

}  // namespace slipway::artifact
