// SPDX-License-Identifier: Apache-2.0
// core/worker/client/family.hpp - a worker with all processes that it started, so that all of them can be ended.
//
// A plugin may start any process, so there are several ways to find them: the session and process group; its own cgroup
// where one can be made (cgroup2, Linux 5.14 for cgroup.kill), which also limits memory; the name in the environment
// that descendants inherit; and the mark of all workers (worker_mark.hpp). This process becomes the subreaper of all of
// them: a process that loses its parent becomes a child of this process, and is found there.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include <slipway/result.hpp>

#include "base/confine/process_limits.hpp"

namespace slipway::core {

class Family {
 public:
  /// Makes a new name, and a cgroup if possible.
  explicit Family(const base::ProcessLimits& limits = {});

  /// "NAME=value" for the environment of the worker.
  std::string marker() const;
  /// Descriptor of the cgroup's folder; -1 without one.
  int cgroup() const { return group_.cgroup2(); }

  const base::LimitedProcesses& group() const { return group_; }

  /// Starts the worker with `fork`, which returns its pid. Once per family. The worker has to enter group().members().
  Result<pid_t> start(const std::function<Result<pid_t>()>& fork);
  /// Returns and reaps the worker's status for waitpid(2) if it ended within that time; -1 when the status is unknown.
  std::optional<int> wait(int milliseconds);
  /// Kills the worker and everything it started, waits for their end and reaps them.
  /// @return false when SIGKILL did not end the worker within 2 s; it is left running
  bool end();

 private:
  void end_orphans();
  bool end_some_orphans();
  bool is_member(pid_t child) const;

  base::LimitedProcesses group_;
  pid_t worker_ = 0;
  bool reaped_ = false;
};

}  // namespace slipway::core
