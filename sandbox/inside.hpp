// SPDX-License-Identifier: Apache-2.0
// sandbox/inside.hpp - the child's side of run_in_sandbox(): makes the namespaces and runs the program.
#pragma once

#include <string>

#include "sandbox/sandbox.hpp"

namespace slipway::core {

/// What kept the program from being run, on its way through the report pipe: one letter, errno, text. Lines of
/// `without_users` and `without_network` (a letter and why) come first, and keep nothing from being run.
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
  std::string text;  ///< what was tried
};

/// Runs in a fork of the caller and never returns. Writes a report to `report` (close-on-exec) when the program could
/// not be started; ends with its exit status, or 128 + signal.
/// @param group   that it joins first
/// @param output  what becomes standard output and error
[[noreturn]] void enter_sandbox(const Sandbox& request, const LimitedProcesses& group, int output, int report,
                                int parent);

/// Called in a mount namespace that nobody else uses, as process 1 of its process namespace. Afterwards "/" is the
/// request's root. @return a report with empty text when all went well
SandboxReport make_sandbox_mounts(const Sandbox& request);

}  // namespace slipway::core
