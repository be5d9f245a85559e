// SPDX-License-Identifier: Apache-2.0
// core/worker/client/cgroup_start.hpp - starts a program right inside a cgroup, without a copy of this process.
#pragma once

#include <sys/types.h>

#include <slipway/process/start.hpp>

namespace slipway::core {

/// clone3(2) with CLONE_INTO_CGROUP (Linux 5.7) and shared memory until exec, as vfork(2): moving a running process
/// into a cgroup takes milliseconds on many kernels, and so does copying ours. The program gets a session of its own
/// and default signals. All signals must be blocked in the calling thread.
/// @param program  its argv has a path; its descriptors are open, and their numbers above those that it gets
/// @return the pid; -1 when it cannot be done here. A program that cannot be executed ends with status 127.
pid_t start_in_cgroup(const ChildProgram& program, int cgroup);

}  // namespace slipway::core
