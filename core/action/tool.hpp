// SPDX-License-Identifier: Apache-2.0
// core/action/tool.hpp - runs the tools that triggers need: the live machine's, the root's own, or this machine's.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/action/action_kind.hpp"

namespace slipway::core {

struct ToolEnd {
  int status = 0;
  std::string output;   ///< both streams, the newest 256 KiB
  std::string command;  ///< as a person would type it
};

/// The root has a program of this name in one of its usual folders.
bool root_has_tool(const Host& host, const std::string& name);
/// Programs of the root can be run here: by this processor, or by qemu-user that the kernel starts for them
/// (binfmt_misc) and that needs nothing inside the root.
bool root_runs_here(const Host& host);
/// The same by hand. @param formats  the folder of binfmt_misc
bool runs_here(const std::string& arch, const std::string& machine, const std::string& formats);

/// A program of the live machine. Errors: those of Host::run().
Result<ToolEnd> run_live(const Host& host, const std::vector<std::string>& argv, std::chrono::seconds limit);
/// A program of a root that is not live, in a sandbox (sandbox.hpp). SOURCE_DATE_EPOCH is handed on where there is one.
/// Errors: those of run_in_sandbox().
Result<ToolEnd> run_in_root(ActionContext& context, const std::vector<std::string>& argv, std::chrono::seconds limit);
/// A program of this machine, which is told the root by an argument. Errors: `not_found`, `timed_out`, `io`.
Result<ToolEnd> run_here(const std::vector<std::string>& argv, std::chrono::seconds limit);

/// The error of a tool that ended with a status other than 0: its status and last lines.
Error tool_failed(const ToolEnd& end, const std::string& doing, const std::string& next);

/// The last `count` lines of a text.
std::string last_lines(const std::string& text, std::size_t count);

}  // namespace slipway::core
