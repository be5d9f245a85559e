// SPDX-License-Identifier: Apache-2.0
// core/worker/client/process_list.hpp - reads the state of processes from /proc.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/process/proc_text.hpp>

namespace slipway::core {

/// Returns the children of all threads of this process, including zombies.
std::vector<pid_t> children_of_this_process();

/// Reads /proc/PID/stat of a process ("self" or a number); all zero when the process is gone.
ProcessStat state_of(const std::string& process);

/// Returns a variable from the environment that a process was started with; empty when it has none, or is a zombie.
std::string environment_of(pid_t process, const std::string& variable);

/// Returns oom_score_adj of a process ("self" or a number), also of a zombie; 0 when it is unknown.
int oom_score_of(const std::string& process);

/// Returns the cgroup2 path of a process ("self" or a number), as in /proc/PID/cgroup; empty without one.
std::string cgroup2_path(const std::string& process);

}  // namespace slipway::core
