// SPDX-License-Identifier: Apache-2.0
// sandbox/powers.hpp - what a program in the sandbox may ask of the kernel: capabilities, system calls, resources.
#pragma once

#include <string>

namespace slipway::core {

/// What could not be taken away: a program is not started then.
struct PowersLeft {
  std::string what;  ///< empty: all is well
  int number = 0;    ///< errno
};

/// Takes from this process, for good and for all that it starts: every capability but those that files of other owners
/// need; new privileges (setuid programs); the system calls that reach past the sandbox's own files and processes, or
/// into seldom used parts of the kernel (they fail with EPERM, what is new with ENOSYS); device nodes; core dumps and
/// files of more than 16 GiB. Called as the last thing before the program; what needs a capability comes before.
PowersLeft take_powers();

}  // namespace slipway::core
