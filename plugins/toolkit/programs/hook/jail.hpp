// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/jail.hpp - runs a host's program inside a container's root, without access to anything
// of the host.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::hook {

/// Copies a program to memory that no process can write to, so that a container cannot change it while it runs. Errors:
/// `not_found`; `unsupported` when it is linked dynamically: it would load the container's libraries.
Result<Fd> copy_program(const std::string& path);

struct JailedProgram {
  int program = -1;                    ///< from copy_program(); borrowed
  std::vector<std::string> arguments;  ///< the program's name comes first
  /// Called inside the jail before the program starts, with the container's root as "/". Returns further arguments.
  std::function<Result<std::vector<std::string>>(const RootDir& root)> prepare;
};

/// Runs a program in a child process with the container's root as its "/", in new mount, PID, network, IPC and UTS
/// namespaces, without an environment, with only the capabilities for files, and with limits of memory, file size and
/// time. Errors: those of prepare(); `timed_out` after a minute; `io` when the program fails.
Status run_jailed(const RootDir& root, const JailedProgram& program);

}  // namespace slipway::hook
