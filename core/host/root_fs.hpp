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
  /// @param source_date_epoch  mtime of everything that is written (seconds), and of folders that change; empty: now
  RootFs(RootDir root, std::optional<std::int64_t> source_date_epoch);

  const RootDir& root() const { return root_; }

  /// What is at `path` now, a PathImage. Regular files' contents are copied into the Originals
  /// (core/host/originals.hpp).
  Result<Image> capture(std::string_view path);
  /// Brings an image back; what is there now goes, except a folder that is not empty. Parents that were missing then
  /// and are empty now go as well. What is as in the image already is not written. Repeatable. Errors: `corrupt` when
  /// the original is gone; `conflict` when a folder that is not empty has taken the place of a file.
  Status restore(std::string_view path, const Image& image);

  /// Writes PATH.slipway-new: content, mode and owner complete, not yet synced. Parents are made. A regular file that
  /// is at PATH hands its extended attributes (SELinux label, ACL) on; the umask does not matter.
  Status stage_file(std::string_view path, std::string_view content, unsigned mode, unsigned uid, unsigned gid);
  Status stage_symlink(std::string_view path, std::string_view points_to);
  /// Renames PATH.slipway-new to PATH. Errors: `conflict` for a file that something is mounted on, or a folder.
  Status switch_in(std::string_view path);
  /// PATH.slipway-new is there.
  bool staged(std::string_view path) const;
  /// Gives the file at `path` a second name in the same folder, `beside`; one of that name goes.
  Status link_beside(std::string_view path, std::string_view beside);
  /// Removes PATH.slipway-new if it is there.
  Status unstage(std::string_view path);

  /// Renames a folder whose new name is not there yet; both lie in the same folder.
  Status rename(std::string_view from, std::string_view to);
  Status make_directory(std::string_view path, unsigned mode);  ///< parents too; fine when it is there: mode is set
  Status remove(std::string_view path);                         ///< a file, link or empty folder; fine when absent
  Status remove_tree(std::string_view path);
  Status make_node(std::string_view path, bool character, unsigned major, unsigned minor, unsigned mode,
                   unsigned uid = 0, unsigned gid = 0);

  /// Somebody else (a tool, an unpacker) wrote into this folder: it takes part in sync and settle_directory_times.
  void note_changed(std::string_view folder);
  /// Something is mounted on the path itself, so it cannot be renamed over.
  bool is_mount_point(std::string_view path) const;

  /// syncfs(2) of the root and of every other filesystem that was written to: all that was written so far is on the
  /// disk when this returns.
  Status sync();
  /// Sets the mtime of every folder that was changed, when there is a SOURCE_DATE_EPOCH.
  Status settle_directory_times();
  /// Gives what a tool wrote the time of new files, when there is a SOURCE_DATE_EPOCH; fine when it is not there.
  Status settle_time(std::string_view path);
  std::optional<std::int64_t> source_date_epoch() const { return source_date_epoch_; }
  /// The time for new files: SOURCE_DATE_EPOCH or now, nanoseconds since 1970.
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

/// The folders above a path, outermost first, without "/": "/a/b/c" gives "/a", "/a/b".
std::vector<std::string> folders_above(std::string_view path);

}  // namespace slipway::core
