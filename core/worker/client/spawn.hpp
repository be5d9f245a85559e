// SPDX-License-Identifier: Apache-2.0
// core/worker/client/spawn.hpp - starts the process of a worker.
#pragma once

#include <string>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "core/worker/client/family.hpp"
#include "core/worker/client/worker.hpp"

namespace slipway::core {

/// A started process; its family ends it.
struct WorkerProcess {
  pid_t pid = -1;
  Fd handle;   ///< becomes readable when it ended (pidfd); none before Linux 5.3
  Fd channel;  ///< frames, not blocking
  Fd printed;  ///< reading end of its standard output and error, not blocking
};

/// Starts slipway-worker in a session of its own, into the family's cgroup if it has one. Thread-safe: a thread that
/// lives as long as this process does the start, since a worker dies with the thread that started it.
/// Errors: those of worker_program(), system_error().
Result<WorkerProcess> spawn_worker(const WorkerOptions& options, Family& family);

}  // namespace slipway::core
