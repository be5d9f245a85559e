// SPDX-License-Identifier: Apache-2.0
// core/host/root_fs.hpp - writes inside a root: by temporary name and rename, never through a link that leads out.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::core {

/// What a path was like, so that it can be brought back: the journal's pre-image and a generation's original.
/// JSON: {"type": "absent|regular|directory|symlink|other", "mode", "uid", "gid", "mtime_ns", "digest" (regular; the
/// content is in the Originals), "points_to" (symlink), "missing_parents": [paths that were not there]}
using Image = Json;

/// Content-addressed copies of files that were replaced or removed: /var/lib/slipway/originals/SHA256.
class Originals;

class RootFs {
 public:
  /// @param source_date_epoch  mtime of everything that is written (seconds), and of folders that change; empty: now
  RootFs(RootDir root, std::optional<std::int64_t> source_date_epoch);

  const RootDir& root() const { return root_; }

  /// What is at `path` now. Regular files' contents are copied into the originals.
  Result<Image> capture(std::string_view path);
  /// Brings an image back; what is there now goes. Parents that were missing then and are empty now go as well.
  Status restore(std::string_view path, const Image& image);

  /// Writes PATH.slipway-new: content, mode and owner complete, not yet synced. Parents are made.
  Status stage_file(std::string_view path, std::string_view content, unsigned mode, unsigned uid, unsigned gid);
  Status stage_symlink(std::string_view path, std::string_view points_to);
  /// Renames PATH.slipway-new to PATH.
  Status switch_in(std::string_view path);
  /// Removes PATH.slipway-new if it is there.
  Status unstage(std::string_view path);

  Status make_directory(std::string_view path, unsigned mode);  ///< parents too; fine when it is there
  Status remove(std::string_view path);                         ///< a file, link or empty folder; fine when absent
  Status remove_tree(std::string_view path);
  Status make_node(std::string_view path, bool character, unsigned major, unsigned minor, unsigned mode);

  /// syncfs(2) of the root: all that was written so far is on the disk when this returns.
  Status sync();
  /// Sets the mtime of every folder that was changed, when there is a SOURCE_DATE_EPOCH.
  Status settle_directory_times();
  /// The time for new files: SOURCE_DATE_EPOCH or now, nanoseconds since 1970.
  std::int64_t now_ns() const;

 private:
  RootDir root_;
  std::optional<std::int64_t> source_date_epoch_;
  std::set<std::string> changed_directories_;
};

}  // namespace slipway::core
