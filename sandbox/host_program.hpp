// SPDX-License-Identifier: Apache-2.0
// sandbox/host_program.hpp - a program of this machine with all that it needs to run where only the files of a foreign
// root are: its linker and its libraries.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "sandbox/sandbox.hpp"

namespace slipway::core {

struct HostProgram {
  std::vector<std::string> start;  ///< the words before its arguments: what it is started by, in kToolsFolder
  std::vector<SandboxBind> files;  ///< for Sandbox::tools
};

/// @param name  of a file in one of this machine's usual folders, as machine_has_tool() finds it; a script that only
///              starts NAME.real (Ubuntu's ldconfig) stands for that
/// Errors: `not_found` no such program, or it lacks a library; `unsupported` it is of a kind that cannot be taken
/// along.
Result<HostProgram> find_host_program(const std::string& name);

}  // namespace slipway::core
