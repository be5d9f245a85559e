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

/// A folder taken as "/". Paths are absolute or relative to it; links are followed inside it, absolute ones from it
/// (openat2 with RESOLVE_IN_ROOT, Linux 5.6; an O_PATH walk of our own where that is missing). Thread-safe.
class RootDir {
 public:
  /// Errors: `not_found`, `denied`, or `invalid` when it is not a folder.
  static Result<RootDir> open(const std::string& folder);

  /// open(2) of a path inside; `flags` as there, O_CLOEXEC is added. Errors: system_error() with the path.
  Result<Fd> open_at(std::string_view path, int flags, mode_t mode = 0) const;
  /// The folder that holds the last name of `path`, opened O_PATH|O_DIRECTORY, and that name. The name itself is not
  /// followed and need not exist. Errors: `not_found` when a folder on the way is missing; `invalid` for "/" or "..".
  Result<std::pair<Fd, std::string>> parent_of(std::string_view path) const;
  /// The path with every link followed, as seen from inside. Errors: `not_found`.
  Result<std::string> resolve(std::string_view path) const;

  const std::string& folder() const { return folder_; }
  int fd() const { return fd_->get(); }

 private:
  RootDir(std::string folder, Fd fd) : folder_(std::move(folder)), fd_(std::make_shared<Fd>(std::move(fd))) {}
  std::string folder_;
  std::shared_ptr<Fd> fd_;
};

}  // namespace slipway
