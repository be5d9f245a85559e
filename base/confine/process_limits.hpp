// SPDX-License-Identifier: Apache-2.0
// base/confine/process_limits.hpp - limits memory and processes of a process and its descendants: by
// cgroups where these can be made, else by checking the usage.
//
// Address space does not measure memory: libraries for GPUs and programs in Go reserve far more than they use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/root_dir.hpp>

namespace slipway::base {

struct ProcessLimits {
  std::uint64_t memory_bytes = 0;  ///< for all of them together; 0: no limit
  std::uint64_t processes = 0;     ///< including threads; 0: no limit
  /// Counts files that they write to file systems in memory, as cgroups do. Without this, only their own memory counts,
  /// and the limit is enforced by checking.
  bool files_in_memory_count = true;
};

enum class ExceededLimit { none, memory, processes };

/// The groups of one process and its descendants. They are made below the groups of this process: cgroup2 (Linux 5.14,
/// for cgroup.kill) with its delegated controllers, and the older memory and pids hierarchies. A group that this user
/// cannot move processes into is not used: the usage is checked instead. For one thread.
class LimitedProcesses {
 public:
  /// @param kind  a word for the names of the groups: "slipway-KIND-PID-NUMBER". Groups of that form whose slipway was
  ///              killed are removed as well.
  LimitedProcesses(const std::string& kind, const ProcessLimits& limits);
  LimitedProcesses(const LimitedProcesses&) = delete;
  LimitedProcesses& operator=(const LimitedProcesses&) = delete;
  /// Removes the groups. End the processes before; a group that is not empty stays.
  ~LimitedProcesses();

  const std::string& name() const { return name_; }
  /// Returns the descriptor of the cgroup2 folder; -1 without one.
  int cgroup2() const { return cgroup2_.get(); }

  /// Returns descriptors of the cgroup.procs of each group, for a process that enters the groups by itself: it writes
  /// "0" to each of them.
  std::vector<int> members() const;
  /// Moves the calling process into the groups. Between fork and exec: system calls only. @return false, errno set
  bool join() const noexcept;
  /// Sets the process that excess() checks, with its descendants. It must be a child of this process that is not reaped
  /// yet.
  void watch(pid_t process) { process_ = process; }
  /// Moves a running process into the groups, and watches it.
  void add(pid_t process);
  /// True when a limit is enforced by checking: call excess() repeatedly, and end the processes when it returns a
  /// limit.
  bool needs_looks() const { return looks_at_memory_ || looks_at_processes_; }
  /// Returns the exceeded limit: the kernel ended a process (memory) or refused to start one, or the present usage is
  /// above the limit.
  ExceededLimit excess() const;
  /// Ends all processes in the cgroup2 folder.
  void kill() const;

 private:
  void make();
  /// Switches to checking the usage, since the process could not be moved into every group.
  void look_instead();
  void limit_group(const std::string& folder, bool second_version, const std::string& controllers);

  std::string name_;
  ProcessLimits limits_;
  // Descriptors, since the process's root may have changed when they are used.
  std::vector<Fd> above_;    ///< the parent folders of the groups
  std::vector<Fd> members_;  ///< cgroup.procs of each
  Fd cgroup2_;
  Fd memory_events_;   ///< the file with "oom_kill N"; unset: no group limits memory
  Fd process_events_;  ///< the file with "max N"
  Fd proc_;            ///< for checking the usage
  bool looks_at_memory_ = false;
  bool looks_at_processes_ = false;
  pid_t process_ = 0;
};

}  // namespace slipway::base
