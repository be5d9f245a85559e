// SPDX-License-Identifier: Apache-2.0
// sdk/src/host/program.hpp - runs a program of a root and waits for it, with a limit on time and output.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/process/child_process.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::detail {

/// Host::run() for a live root. The program gets its own process group, /dev/null as input, the environment PATH, HOME
/// and LC_ALL=C, and no descriptor besides the three. When the root is not this process's "/": if process 1 is in it (a
/// container that sees the host's processes), the program runs in the namespaces of process 1, else under chroot(2). A
/// limit of zero means no limit. Processes that the program left keep running, and their output is dropped.
Result<ProcessOutput> run_program(const RootDir& root, const std::vector<std::string>& argv,
                                  std::chrono::milliseconds limit);

/// Returns the program's path inside the root: `name` itself when it has a slash, else the first in the usual folders.
/// Errors: `not_found`, `denied` when it exists but cannot be executed, `invalid` for an empty name.
Result<std::string> find_program(const RootDir& root, const std::string& name);

/// @param path  of the program, inside the root
/// Errors: system_error(); `not_found` when the program's interpreter or loader is missing.
Result<Child> start_child(const RootDir& root, const std::string& path, const std::vector<std::string>& argv);

}  // namespace slipway::detail
