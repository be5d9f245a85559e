// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/events.hpp - what wakes the service: files that its checks go by, and the kernel's log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/root_dir.hpp>
#include <slipway/watch/file_watch.hpp>

#include "nvidia/health/kernel_log_watch.hpp"

namespace slipway::validator {

/// What has happened since it was asked before.
struct News {
  bool files = false;           ///< one has appeared, vanished or changed
  bool driver_changed = false;  ///< an XID that speaks against a GPU
  bool driver_wrote = false;    ///< other lines of the driver: it was loaded or unloaded, or found something wrong
};

/// Used by one thread.
class Events {
 public:
  /// @param has_kernel_log  as of KernelLogWatch
  explicit Events(const RootDir& root, bool has_kernel_log = true);

  News take();
  /// From now on these files are watched; of too many the last ones are not.
  /// @return false when they were watched already
  bool watch(std::vector<std::string> paths);
  /// They can be read when take() has something to do.
  std::vector<int> descriptors() const;
  /// Changes of files wake the service; else it has to look.
  bool sees_files() const { return files_.has_value(); }
  /// What is not noticed at once, and why; empty: everything is.
  std::vector<std::string> problems() const;

 private:
  std::optional<FileWatch> files_;
  std::string files_problem_;
  std::vector<std::string> paths_;
  nvidia::health::KernelLogWatch log_;
};

/// The paths, each once; many of one folder are that folder, where its files seldom change.
std::vector<std::string> by_folder(const std::vector<std::string>& paths);

}  // namespace slipway::validator
