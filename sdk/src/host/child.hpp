// SPDX-License-Identifier: Apache-2.0
// sdk/src/host/child.hpp - starts a program of a root with its output on two pipes.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::detail {

/// A program that runs. Whoever holds it waits for `pid`.
struct Child {
  pid_t pid = -1;
  Fd handle;  ///< becomes readable when it ended (pidfd); none on kernels before 5.3
  Fd output;  ///< reading ends of its standard output and error, not blocking
  Fd errors;
};

/// @param path  of the program, inside the root
/// Errors: system_error(); `not_found` when the program's interpreter or loader is missing.
Result<Child> start_child(const RootDir& root, const std::string& path, const std::vector<std::string>& argv);

}  // namespace slipway::detail
