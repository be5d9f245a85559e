// SPDX-License-Identifier: Apache-2.0
// sdk/confine/slipway/confine/powers.hpp - what a process may ask of the kernel: capabilities and system calls.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway {

/// What a process keeps.
struct Powers {
  std::vector<int> capabilities;  ///< CAP_… of those that it has
  bool programs = true;           ///< it starts programs
  bool network = true;            ///< it makes sockets
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

/// From now on, this process and what it starts make, change and remove names and contents below these folders and
/// files alone (Landlock, Linux 5.19); those that are not there are left out. Owners, modes and times of files
/// elsewhere are not covered.
/// @return false when the kernel has no Landlock that can do that. Errors: system_error() when it has, and refuses.
Result<bool> limit_writes_to(const std::vector<std::string>& places);

}  // namespace slipway
