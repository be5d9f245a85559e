// SPDX-License-Identifier: Apache-2.0
// core/worker/client/spawn.hpp - starts the process of a worker, and knows where slipway's programs are.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

#include <slipway/process/start.hpp>
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

/// Starts slipway-worker in a session of its own. It goes into the family's control groups, whose descriptors it gets,
/// before it loads the plugin; where it cannot, that is the error of its first call. Thread-safe: a thread that
/// lives as long as this process does the start, since a worker dies with the thread that started it.
/// Errors: those of worker_program(), system_error().
Result<WorkerProcess> spawn_worker(const WorkerOptions& options, Family& family);

/// Beside the running program (build tree), ../libexec/slipway/ or ../bin/ from there, else the compiled-in folder.
/// Errors: `not_found` with the places; `denied` when as root the found one may be written by others.
Result<std::string> own_program(const std::string& name);

/// slipway-worker: $SLIPWAY_WORKER when the environment is trusted or we are not root, else as own_program().
/// Errors: also `denied` when as root somebody else could exchange what the variable names.
Result<std::string> worker_program(bool trust_environment);

/// Runs `work` on that thread and waits for it. PR_SET_PDEATHSIG means the thread, not the process, that forked: what
/// a short-lived thread started would be killed with it. All signals are blocked there.
void run_on_start_thread(const std::function<void()>& work);

}  // namespace slipway::core
