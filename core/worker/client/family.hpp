// SPDX-License-Identifier: Apache-2.0
// core/worker/client/family.hpp - a worker with all that it started, so that all of it can be ended.
//
// A plugin may start what it likes, so there are several nets: the session and process group; a cgroup of its own where
// one can be made (cgroup2, Linux 5.14 for cgroup.kill), which also limits memory; the name in the environment that
// descendants inherit; and the mark of all workers (worker_mark.hpp). This process is made the subreaper of all: who
// loses its parent becomes our child, and is found there.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include <slipway/confine/process_limits.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

class Family {
 public:
  /// A new name, and a cgroup if possible.
  explicit Family(const ProcessLimits& limits = {});

  /// "NAME=value" for the environment of the worker.
  std::string marker() const;
  /// Descriptor of the cgroup's folder; -1 without one.
  int cgroup() const { return group_.cgroup2(); }

  const LimitedProcesses& group() const { return group_; }

  /// Starts the worker by `fork`, which gives its pid. Once per family. The worker has to go into group().members().
  Result<pid_t> start(const std::function<Result<pid_t>()>& fork);
  /// The worker's status for waitpid(2) if it ended within that time, -1 when that is not known; then it is reaped.
  std::optional<int> wait(int milliseconds);
  /// Kills the worker and everything it started, waits for their end and reaps them.
  /// @return false when SIGKILL did not end the worker within 2 s; it is left behind
  bool end();

 private:
  void end_orphans();
  bool end_some_orphans();
  bool is_member(pid_t child) const;

  LimitedProcesses group_;
  pid_t worker_ = 0;
  bool reaped_ = false;
};

}  // namespace slipway::core
