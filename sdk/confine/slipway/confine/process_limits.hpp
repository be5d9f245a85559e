// SPDX-License-Identifier: Apache-2.0
// sdk/confine/slipway/confine/process_limits.hpp - limits of memory and processes for a process and all that it starts:
// by cgroups where they can be made, else by looking at what the processes use.
//
// Address space is no measure of memory: libraries for GPUs and programs in Go reserve far more of it than they use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/root_dir.hpp>

namespace slipway {

struct ProcessLimits {
  std::uint64_t memory_bytes = 0;  ///< of all of them together; 0: no limit
  std::uint64_t processes = 0;     ///< threads count; 0: no limit
  /// What they write to file systems in memory counts, as cgroups count it. Without, only what they hold themselves
  /// counts, and the limit is kept by looking.
  bool files_in_memory_count = true;
};

enum class ExceededLimit { none, memory, processes };

/// The groups of one process and its descendants. They are made below those of this process: cgroup2 (Linux 5.14, for
/// cgroup.kill) with the controllers that it hands down, and the older memory and pids hierarchies. One thread's.
class LimitedProcesses {
 public:
  /// @param kind  a word for the names of the groups: "slipway-KIND-PID-NUMBER". Groups of that form whose slipway was
  ///              killed are removed on the way.
  LimitedProcesses(const std::string& kind, const ProcessLimits& limits);
  LimitedProcesses(const LimitedProcesses&) = delete;
  LimitedProcesses& operator=(const LimitedProcesses&) = delete;
  /// Removes the groups. Whoever uses this has ended the processes before; a group that is not empty stays.
  ~LimitedProcesses();

  const std::string& name() const { return name_; }
  /// Descriptor of the cgroup2 folder; -1 without one.
  int cgroup2() const { return cgroup2_.get(); }

  /// Descriptors of the cgroup.procs of each group, for a process that goes into the groups by itself: by writing "0"
  /// to each of them.
  std::vector<int> members() const;
  /// The calling process goes into the groups. Between fork and exec: system calls only. @return false, errno set
  bool join() const noexcept;
  /// The process that excess() looks at, with its descendants; a child of this process that nobody waited for.
  void watch(pid_t process) { process_ = process; }
  /// A running process goes into the groups, and is watched.
  void add(pid_t process);
  /// A limit has to be kept by looking: excess() is to be asked again and again, and what it names to be ended.
  bool needs_looks() const { return looks_at_memory_ || looks_at_processes_; }
  /// The limit that was met: that the kernel ended a process for it, or refused one; or what is used right now.
  ExceededLimit excess() const;
  /// Ends everything in the cgroup2 folder.
  void kill() const;

 private:
  void make();
  /// For a process that could not be brought into each group.
  void look_instead();
  void limit_group(const std::string& folder, bool second_version, const std::string& controllers);

  std::string name_;
  ProcessLimits limits_;
  // Descriptors, since the process's root may be another one by the time that they are used.
  std::vector<Fd> above_;    ///< the folders that the groups are in
  std::vector<Fd> members_;  ///< cgroup.procs of each
  Fd cgroup2_;
  Fd memory_events_;   ///< where "oom_kill N" stands; none: no group limits memory
  Fd process_events_;  ///< where "max N" stands
  Fd proc_;            ///< where it looks
  bool looks_at_memory_ = false;
  bool looks_at_processes_ = false;
  pid_t process_ = 0;
};

}  // namespace slipway
