// SPDX-License-Identifier: Apache-2.0
// core/worker/client/spawn.hpp - starts the process of a worker, and finds slipway's programs.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

#include <slipway/process/start_program.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "core/worker/client/family.hpp"
#include "core/worker/client/worker.hpp"

namespace slipway::core {

/// A started process; its family ends it.
struct WorkerProcess {
  pid_t pid = -1;
  Fd handle;   ///< becomes readable when the process has ended (pidfd); unset before Linux 5.3
  Fd channel;  ///< frames, non-blocking
  Fd printed;  ///< reading end of its standard output and error, non-blocking
};

/// Starts slipway-worker in its own session. The worker enters the family's control groups, whose descriptors it gets,
/// before it loads the plugin; a failure is the error of its first call. Thread-safe: a thread that lives as long as
/// this process starts the worker, since a worker dies with the thread that started it.
/// Errors: those of worker_program(), system_error().
Result<WorkerProcess> spawn_worker(const WorkerOptions& options, Family& family);

/// Returns the path of one of slipway's own programs. The program is searched for beside the running program (as in the
/// build tree), then in ../libexec/slipway/ and ../bin/ relative to that, and finally in the folder that was compiled
/// in. Errors: `not_found` with the places; `denied` when as root other users may write the file found.
Result<std::string> own_program(const std::string& name);

/// Finds slipway-worker: $SLIPWAY_WORKER when the environment is trusted or the user is not root, else as
/// own_program().
/// Errors: also `denied` when as root another user could replace the file that the variable names.
Result<std::string> worker_program(bool trust_environment);

/// Runs `work` on that thread and waits for it. PR_SET_PDEATHSIG refers to the thread that forked, not to the process:
/// a child of a short-lived thread would be killed with that thread. All signals are blocked there.
void run_on_start_thread(const std::function<void()>& work);

}  // namespace slipway::core
