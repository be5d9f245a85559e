// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/pipe_look.hpp - looks into a pipe folder, and waits no longer than it wants to.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "deviceplugin/service/mps/pipe/pipe_users.hpp"

namespace slipway::deviceplugin {

/// Has a process of its own look, one at a time: a pod can have the kernel hold who looks, and whoever is held so
/// cannot even be killed. Used by one thread.
class PipeLook {
 public:
  /// @param program  deviceplugin-empty
  PipeLook(std::string program, std::string folder) : program_(std::move(program)), folder_(std::move(folder)) {}
  ~PipeLook() { forget(); }
  PipeLook(const PipeLook&) = delete;
  PipeLook& operator=(const PipeLook&) = delete;

  /// Errors: `timed_out` there is no answer in time, or none at all. A later call has the answer of the process that is
  /// still at it, and does not wait.
  Result<PipeUsers> users(std::chrono::milliseconds limit);
  /// The same for who holds the lock, most times without a process.
  Result<pid_t> lock_user(std::chrono::milliseconds limit);
  /// The folder is another one now.
  void forget();

 private:
  Status start();

  std::string program_;
  std::string folder_;
  pid_t child_ = 0;  ///< 0: none is at it
  Fd answer_;
  bool waited_ = false;
  std::vector<pid_t> left_;  ///< were killed, and may still be held
};

}  // namespace slipway::deviceplugin
