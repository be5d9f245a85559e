// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/root_dir.hpp - opens paths inside a root folder so that no symlink leads out of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// A folder used as "/". Paths are absolute or relative to it; links are followed inside it, absolute ones from it
/// (openat2 with RESOLVE_IN_ROOT, Linux 5.6; an O_PATH walk of our own on older kernels). Thread-safe.
class RootDir {
 public:
  /// Errors: `not_found`, `denied`, or `invalid` when it is not a folder.
  static Result<RootDir> open(const std::string& folder);

  /// Calls open(2) for a path inside; `flags` as there, with O_CLOEXEC added. Errors: system_error() with the path.
  Result<Fd> open_at(std::string_view path, int flags, mode_t mode = 0) const;
  /// Returns the parent folder of `path`, opened O_PATH|O_DIRECTORY, and the last name. The name itself is not followed
  /// and need not exist. Errors: `not_found` when a folder on the way is missing; `invalid` for "/" or "..".
  Result<std::pair<Fd, std::string>> parent_of(std::string_view path) const;
  /// Returns the path with every link followed, as seen from inside. Errors: `not_found`.
  Result<std::string> resolve(std::string_view path) const;

  const std::string& folder() const { return folder_; }
  int fd() const { return fd_->get(); }

 private:
  RootDir(std::string folder, Fd fd) : folder_(std::move(folder)), fd_(std::make_shared<Fd>(std::move(fd))) {}
  std::string folder_;
  std::shared_ptr<Fd> fd_;
};

}  // namespace slipway
