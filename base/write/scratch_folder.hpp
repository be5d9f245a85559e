// SPDX-License-Identifier: Apache-2.0
// base/write/scratch_folder.hpp - a folder for temporary files that is removed with its process, however
// that ends.
#pragma once

#include <string>
#include <utility>

#include <sys/types.h>

#include <slipway/result.hpp>

namespace slipway::base {

/// A small process beside this one removes the folder: when this object is destroyed, and also when the whole process
/// is killed, even by SIGKILL.
class ScratchFolder {
 public:
  /// Makes `PARENT/NAME-…`, for its owner only. Errors: of fork(2) and mkdir(2).
  static Result<ScratchFolder> make(const std::string& parent, const std::string& name);
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::move(other.path_)), lifeline_(std::exchange(other.lifeline_, -1)), keeper_(other.keeper_) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  ScratchFolder(std::string path, int lifeline, pid_t keeper)
      : path_(std::move(path)), lifeline_(lifeline), keeper_(keeper) {}
  std::string path_;
  int lifeline_;  ///< a pipe only of this process: when it closes, the keeper removes the folder
  pid_t keeper_;
};

}  // namespace slipway::base
