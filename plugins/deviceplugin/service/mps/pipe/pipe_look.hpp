// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/pipe_look.hpp - checks a pipe folder, with a time limit.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "deviceplugin/service/mps/pipe/pipe_users.hpp"

namespace slipway::deviceplugin {

/// Runs a separate process to read the folder, one at a time: a pod can block the reader in the kernel, and a process
/// blocked like that cannot even be killed. Used by one thread.
class PipeLook {
 public:
  /// @param program  deviceplugin-empty
  PipeLook(std::string program, std::string folder) : program_(std::move(program)), folder_(std::move(folder)) {}
  ~PipeLook() { forget(); }
  PipeLook(const PipeLook&) = delete;
  PipeLook& operator=(const PipeLook&) = delete;

  /// Errors: `timed_out` no answer came in time. A later call returns the answer of the running process without
  /// waiting.
  Result<PipeUsers> users(std::chrono::milliseconds limit);
  /// Returns only the holder of the lock, usually without starting a process.
  Result<pid_t> lock_user(std::chrono::milliseconds limit);
  /// Called when the folder was replaced.
  void forget();

 private:
  Status start();

  std::string program_;
  std::string folder_;
  pid_t child_ = 0;  ///< 0: no process is running
  Fd answer_;
  bool waited_ = false;
  std::vector<pid_t> left_;  ///< killed processes that may still be blocked
};

}  // namespace slipway::deviceplugin
