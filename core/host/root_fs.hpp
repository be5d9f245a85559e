// SPDX-License-Identifier: Apache-2.0
// core/host/root_fs.hpp - writes inside a root: by temporary name and rename, never through a link that leads out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <slipway/root_dir.hpp>

#include "core/host/path_image.hpp"

namespace slipway::core {

class RootFs {
 public:
  /// @param source_date_epoch  mtime for written files and changed folders (seconds); empty: now
  RootFs(RootDir root, std::optional<std::int64_t> source_date_epoch);

  const RootDir& root() const { return root_; }

  /// Returns the present state of `path`, a PathImage. Copies the contents of regular files into the Originals
  /// (core/host/originals.hpp).
  Result<Image> capture(std::string_view path);
  /// Restores an image and removes what is at the path now, except a folder that is not empty. Also removes parents
  /// that did not exist in the image and are empty now. Writes nothing that equals the image already. Repeatable.
  /// Errors: `corrupt` when the original is missing; `conflict` when a folder that is not empty replaces a file.
  Status restore(std::string_view path, const Image& image);

  /// Writes PATH.slipway-new with content, mode and owner, not yet synced. Creates the parents. Copies the extended
  /// attributes (SELinux label, ACL) of a regular file at PATH. The umask has no effect.
  Status stage_file(std::string_view path, std::string_view content, unsigned mode, unsigned uid, unsigned gid);
  Status stage_symlink(std::string_view path, std::string_view points_to);
  /// Renames PATH.slipway-new to PATH. Errors: `conflict` when PATH is a mount point or a folder.
  Status switch_in(std::string_view path);
  /// True when PATH.slipway-new exists.
  bool staged(std::string_view path) const;
  /// Gives the file at `path` a second name, `beside`, in the same folder; replaces a file of that name.
  Status link_beside(std::string_view path, std::string_view beside);
  /// Removes PATH.slipway-new if it is there.
  Status unstage(std::string_view path);

  /// Renames a folder to a name that does not exist yet, in the same parent folder.
  Status rename(std::string_view from, std::string_view to);
  Status make_directory(std::string_view path, unsigned mode);  ///< parents too; an existing folder only gets the mode
  Status remove(std::string_view path);                         ///< a file, link or empty folder; fine when absent
  Status remove_tree(std::string_view path);
  Status make_node(std::string_view path, bool character, unsigned major, unsigned minor, unsigned mode,
                   unsigned uid = 0, unsigned gid = 0);

  /// Notes a folder that another program (a tool, an unpacker) wrote to, for sync() and settle_directory_times().
  void note_changed(std::string_view folder);
  /// True when the path itself is a mount point, so that no file can be renamed over it.
  bool is_mount_point(std::string_view path) const;

  /// Calls syncfs(2) for the root and every other filesystem that was written to. On return, everything written so far
  /// is on the disk.
  Status sync();
  /// Sets the mtime of every changed folder when there is a SOURCE_DATE_EPOCH.
  Status settle_directory_times();
  /// Sets the time of new files on a tool's output when there is a SOURCE_DATE_EPOCH. The file may be missing.
  Status settle_time(std::string_view path);
  std::optional<std::int64_t> source_date_epoch() const { return source_date_epoch_; }
  /// The time for new files, SOURCE_DATE_EPOCH or now, in nanoseconds since 1970.
  std::int64_t now_ns() const;

 private:
  Status make_parents(std::string_view path);
  std::string in_this_filesystem(std::string_view path) const;
  Status make_one_directory(const std::string& path, unsigned mode);
  Result<bool> is_as_recorded(std::string_view path, const PathImage& image) const;
  Status restore_regular(std::string_view path, const PathImage& image);
  Status restore_directory(std::string_view path, const PathImage& image);
  Status restore_absent(std::string_view path, const PathImage& image);
  void changed(int folder, std::string_view path);

  RootDir root_;
  std::optional<std::int64_t> source_date_epoch_;
  std::set<std::string> changed_directories_;
  std::map<dev_t, std::shared_ptr<Fd>> written_filesystems_;
};

/// Returns the folders above a path, outermost first, without "/": "/a/b/c" gives "/a", "/a/b".
std::vector<std::string> folders_above(std::string_view path);

}  // namespace slipway::core
