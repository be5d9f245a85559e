// SPDX-License-Identifier: Apache-2.0
// core/worker/client/failure.hpp - words for the ways in which a worker can fail.
#pragma once

#include <chrono>
#include <string>

#include <slipway/error.hpp>

namespace slipway::core {

/// Which plugin it was and what it was doing.
struct Failed {
  std::string name;    ///< component
  std::string phase;   ///< the operation, or "load"
  std::string plugin;  ///< path
  std::string output;  ///< its last lines
};

/// It ended by itself: a signal, or exit. `status` is waitpid's, -1 when that is not known.
Error ended_by_itself(const Failed& failed, int status);
/// It was ended because it did something that it must not: "printed more than 16 MiB".
Error misbehaved(const Failed& failed, const std::string& how);
Error ran_out_of_time(const Failed& failed, std::chrono::milliseconds limit);
/// SIGKILL did not end it. Keeps the code of `error`, which says why it was to be ended.
Error stuck_in_kernel(const Failed& failed, const Error& error, int pid);
/// A call of a worker that was ended before.
Error gone_before(const Failed& failed);

}  // namespace slipway::core
