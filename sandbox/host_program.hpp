// SPDX-License-Identifier: Apache-2.0
// sandbox/host_program.hpp - a program of this machine with its linker and libraries, so that it runs where only the
// files of a foreign root are visible.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "sandbox/sandbox.hpp"

namespace slipway::sandbox {

struct HostProgram {
  std::vector<std::string> start;  ///< the words before its arguments: the linker that starts it, in kToolsFolder
  std::vector<SandboxBind> files;  ///< for Sandbox::tools
};

/// @param name  name of a file in one of this machine's usual folders, as machine_has_tool() finds it; for a script
///              that only starts NAME.real (Ubuntu's ldconfig), NAME.real is used
/// Errors: `not_found` no such program, or it lacks a library; `unsupported` a kind of program that cannot be shown in
/// a foreign root.
Result<HostProgram> find_host_program(const std::string& name);

}  // namespace slipway::sandbox
