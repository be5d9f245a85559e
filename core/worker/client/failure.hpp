// SPDX-License-Identifier: Apache-2.0
// core/worker/client/failure.hpp - messages for the ways in which a worker can fail.
#pragma once

#include <chrono>
#include <string>

#include <slipway/error.hpp>

namespace slipway::core {

/// The plugin that failed, and its current operation.
struct Failed {
  std::string name;    ///< component
  std::string phase;   ///< the operation, or "load"
  std::string plugin;  ///< path
  std::string output;  ///< its last lines
};

/// The worker ended by itself: a signal, or exit. `status` is waitpid's, -1 when it is unknown.
Error ended_by_itself(const Failed& failed, int status);
/// The worker was ended because of a violation: "printed more than 16 MiB".
Error misbehaved(const Failed& failed, const std::string& how);
Error ran_out_of_time(const Failed& failed, std::chrono::milliseconds limit);
/// SIGKILL did not end the worker. Keeps the code of `error`, the reason for ending the worker.
Error stuck_in_kernel(const Failed& failed, const Error& error, int pid);
/// The call is for a worker that was already ended.
Error worker_already_ended(const Failed& failed);

}  // namespace slipway::core
