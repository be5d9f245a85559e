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

/// Starts slipway-worker in a session of its own, into the family's cgroup if it has one. Thread-safe: a thread that
/// lives as long as this process does the start, since a worker dies with the thread that started it.
/// Errors: those of worker_program(), system_error().
Result<WorkerProcess> spawn_worker(const WorkerOptions& options, Family& family);

/// Right inside a cgroup: clone3(2) with CLONE_INTO_CGROUP (Linux 5.7) and shared memory until exec, as vfork(2), since
/// moving a running process into a cgroup takes milliseconds on many kernels, and so does copying ours. The program
/// gets a session of its own and default signals. All signals must be blocked in the calling thread.
/// @param program  its argv has a path; its descriptors are open, and their numbers above those that it gets
/// @return the pid; -1 when it cannot be done here. A program that cannot be executed ends with status 127.
pid_t start_in_cgroup(const ChildProgram& program, int cgroup);

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
