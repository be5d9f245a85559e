// SPDX-License-Identifier: Apache-2.0
// sandbox/sandbox_child.hpp - the child's side of run_in_sandbox(): makes the namespaces and runs the program.
#pragma once

#include <string>

#include "sandbox/sandbox.hpp"

namespace slipway::sandbox {

/// The error that prevented the program from running, in the form of the report pipe: one letter, errno, text. Lines of
/// `without_users` and `without_network` (a letter and the reason) come first, and prevent nothing.
struct SandboxReport {
  enum Kind : char {
    refused = 'r',
    setup = 's',
    need = 'n',
    program = 'p',
    without_users = 'u',
    without_network = 'w'
  };
  Kind kind = setup;
  int number = 0;    ///< errno
  std::string text;  ///< the attempted step
};

/// Runs in a fork of the caller and never returns. Writes a report to `report` (close-on-exec) when the program could
/// not be started; ends with its exit status, or 128 + signal.
/// @param group   the group that it joins first
/// @param output  becomes standard output and error
[[noreturn]] void enter_sandbox(const Sandbox& request, const base::LimitedProcesses& group, int output, int report,
                                int parent);

/// Called in a private mount namespace, as process 1 of its process namespace. Afterwards "/" is the request's root.
/// @return a report with empty text on success
SandboxReport make_sandbox_mounts(const Sandbox& request);

}  // namespace slipway::sandbox
