// SPDX-License-Identifier: Apache-2.0
// core/worker/client/cgroup_start.hpp - starts a program right inside a cgroup, without a copy of this process.
#pragma once

#include <array>
#include <vector>

#include <sys/types.h>

namespace slipway::core {

/// What the new process needs, made before it is started.
struct Program {
  const char* path = nullptr;
  std::vector<char*> arguments;      ///< with a null pointer at the end
  std::vector<char*> environment;    ///< likewise
  std::array<int, 4> descriptors{};  ///< what becomes its 0, 1, 2 and 3; numbers above these
};

/// clone3(2) with CLONE_INTO_CGROUP (Linux 5.7) and shared memory until exec, as vfork(2): moving a running process
/// into a cgroup takes milliseconds on many kernels, and so does copying ours. The program gets a session of its own
/// and default signals. All signals must be blocked in the calling thread.
/// @return the pid; -1 when it cannot be done here. A program that cannot be executed ends with status 127.
pid_t start_in_cgroup(const Program& program, int cgroup);

}  // namespace slipway::core
