// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/events.hpp - the events that wake the service: files that its checks depend on, and the
// kernel's log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/root_dir.hpp>
#include <slipway/watch/file_watch.hpp>

#include "nvidia/health/kernel_log_watch.hpp"

namespace slipway::validator {

/// Events since the last request.
struct News {
  bool files = false;           ///< a file has appeared, vanished or changed
  bool driver_changed = false;  ///< an XID that is a fault of a GPU
  bool driver_logged = false;   ///< other lines of the driver: it was loaded or unloaded, or reported a problem
};

/// Used by one thread.
class Events {
 public:
  /// @param has_kernel_log  as in KernelLogWatch
  explicit Events(const RootDir& root, bool has_kernel_log = true);

  News take();
  /// Watches these files from now on; if there are too many, the last ones are left out.
  /// @return false when they were watched already
  bool watch(std::vector<std::string> paths);
  /// Returns descriptors that become readable when take() has something to return.
  std::vector<int> descriptors() const;
  /// True when changes of files wake the service; else it must poll.
  bool sees_files() const { return files_.has_value(); }
  /// Returns what is not noticed at once, and why; empty: everything is.
  std::vector<std::string> problems() const;

 private:
  std::optional<FileWatch> files_;
  std::string watch_problem_;
  std::vector<std::string> paths_;
  nvidia::health::KernelLogWatch log_;
};

/// Returns the paths without duplicates; many of one folder are replaced by that folder if its files seldom change.
std::vector<std::string> by_folder(const std::vector<std::string>& paths);

}  // namespace slipway::validator
