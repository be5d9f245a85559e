// SPDX-License-Identifier: Apache-2.0
// core/exit_code.hpp - the exit statuses of the command slipway, the same for all of its programs.
#pragma once

#include <slipway/error.hpp>

namespace slipway::core {

/// Exit codes (docs/user-guide.md).
enum ExitCode : int {
  kExitDone = 0,
  kExitError = 1,    ///< any error; `verify`: a check fails
  kExitChanges = 2,  ///< `plan`: there are changes
  kExitWaiting = 3,  ///< `apply`: a device is in use, or a source does not answer
  kExitReboot = 4,   ///< `apply`: complete except for a reboot
  kExitUsage = 64,   ///< EX_USAGE
  kExitLocked = 75,  ///< EX_TEMPFAIL: another slipway is working on this root
};

inline int exit_code(const Error& error) {
  if (error.code == ErrorCode::locked) return kExitLocked;
  return error.code == ErrorCode::usage ? kExitUsage : kExitError;
}

}  // namespace slipway::core
