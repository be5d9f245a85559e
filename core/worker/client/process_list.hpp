// SPDX-License-Identifier: Apache-2.0
// core/worker/client/process_list.hpp - what /proc says of processes.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/process/proc_text.hpp>

namespace slipway::core {

/// Children of all threads of this process, dead ones that nobody waited for included.
std::vector<pid_t> children_of_this_process();

/// What /proc/PID/stat says of a process ("self" or a number); all zero when it is gone.
ProcessStat state_of(const std::string& process);

/// A variable of the environment that a process was started with; empty when it has none, or is dead.
std::string environment_of(pid_t process, const std::string& variable);

/// oom_score_adj of a process ("self" or a number), dead ones included; 0 when it cannot be told.
int oom_score_of(const std::string& process);

/// The cgroup2 path of a process ("self" or a number), as in /proc/PID/cgroup; empty without one.
std::string cgroup2_path(const std::string& process);

}  // namespace slipway::core
