// SPDX-License-Identifier: Apache-2.0
// base/confine/powers.hpp - what a process may ask of the kernel: capabilities and system calls.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway {

/// What a process keeps.
struct Powers {
  std::vector<int> capabilities;  ///< CAP_… of those that it has
  bool programs = true;           ///< it starts programs; else it signals, limits and ranks no process but itself
  bool network = true;            ///< it makes sockets
  bool local_sockets = true;     ///< to services of this machine (Unix, vsock) as well; connected pairs it makes anyhow
  bool other_sockets = true;     ///< than those of the Unix family: the network, the kernel's parts, virtual machines
  bool memory_of_nobody = true;  ///< it makes what no process is charged for: memfd, System V memory, message queues
  bool smaller_programs = false;  ///< it starts those of the 32-bit kind of its processor (i686) as well
};

/// What could not be taken away.
struct PowersLeft {
  std::string what;  ///< empty: all is well
  int number = 0;    ///< errno
};

/// Takes from this process, for good and for all that it starts: every capability but those; new privileges (setuid
/// programs); the system calls that reach past its own files and processes, or into seldom used parts of the kernel
/// (they fail with EPERM, what is new with ENOSYS); device nodes. Called while there is one thread; what needs a
/// capability comes before.
PowersLeft take_powers(const Powers& kept);

/// Whether the kernel takes filters of system calls (seccomp(2)) at all. One that was built without them does not, nor
/// does qemu-user.
bool kernel_takes_filters();

/// From now on, this process and what it starts make, change and remove names and contents below these folders and
/// files alone (Landlock, Linux 5.19); those that are not there are left out. Owners, modes and times of files
/// elsewhere are not covered. With Linux 6.12, nor do they signal other processes or reach their abstract sockets.
/// @return false when the kernel has no Landlock that can do that. Errors: system_error() when it has, and refuses.
Result<bool> limit_writes_to(const std::vector<std::string>& places);

}  // namespace slipway
