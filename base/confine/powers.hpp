// SPDX-License-Identifier: Apache-2.0
// base/confine/powers.hpp - limits a process's use of the kernel: capabilities and system calls.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::base {

/// The access that a process keeps.
struct Powers {
  std::vector<int> capabilities;  ///< CAP_… that it keeps
  bool programs = true;           ///< it may start programs; else it may signal, limit and rank only itself
  bool network = true;            ///< it may make sockets
  bool local_sockets = true;     ///< also to services of this machine (Unix, vsock); connected pairs are always allowed
  bool other_sockets = true;     ///< sockets other than Unix ones: network, kernel, virtual machines
  bool uncharged_memory = true;  ///< memory not charged to a process: memfd, System V memory, message queues
  bool programs_of_32_bits = false;  ///< it may also start programs of the processor's 32-bit kind (i686)
};

/// The access that could not be dropped.
struct PowersLeft {
  std::string what;  ///< empty: everything was dropped
  int number = 0;    ///< errno
};

/// Drops access for good, for this process and all its descendants: every other capability; new privileges (setuid
/// programs); system calls that reach beyond its own files and processes, or into rarely used parts of the kernel (they
/// fail with EPERM, new ones with ENOSYS); device nodes. Call it while there is only one thread, after all work that
/// needs a dropped capability. On a kernel without filters of system calls, everything else is dropped.
PowersLeft take_powers(const Powers& kept);

/// True when the kernel supports filters of system calls (seccomp(2)). A kernel built without them does not, nor does
/// qemu-user.
bool kernel_takes_filters();

/// From now on, this process and its descendants can create, change and remove names and contents only below these
/// folders and files (Landlock, Linux 5.19); missing ones are skipped. Owners, modes and times of files elsewhere are
/// not covered. With Linux 6.12, they also cannot signal other processes or reach their abstract sockets.
/// @return false when the kernel has no sufficient Landlock. Errors: system_error() when Landlock exists, but refuses a
/// call.
Result<bool> limit_writes_to(const std::vector<std::string>& places);

}  // namespace slipway::base
