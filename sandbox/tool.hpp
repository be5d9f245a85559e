// SPDX-License-Identifier: Apache-2.0
// sandbox/tool.hpp - runs the tools for triggers (the live machine's, the root's own, or this machine's), and
// compresses modules.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "core/host/root_fs.hpp"

namespace slipway::sandbox {

struct ToolEnd {
  int status = 0;
  std::string output;             ///< both streams, the newest 256 KiB
  std::string command;            ///< as a user would type it
  std::string no_user_namespace;  ///< why a program in the sandbox had none; empty: it had one, or there was no sandbox
  std::string no_network_namespace{};  ///< why such a program had none, and so no sockets; empty: it had one, or there
                                       ///< was no sandbox
};

/// True when the root has a program of this name in one of its usual folders.
bool root_has_tool(const Host& host, const std::string& name);
/// True when the machine that slipway runs on has the tool, so that run_here() finds it.
bool machine_has_tool(const std::string& name);
/// True when programs of the root can run here: on this processor, or with qemu-user, which the kernel starts for them
/// (binfmt_misc) and which needs nothing inside the root.
bool root_runs_here(const Host& host);
/// The same with explicit arguments. @param formats  the folder of binfmt_misc
bool runs_here(const std::string& arch, const std::string& machine, const std::string& formats);

/// Runs a program of the live machine. Errors: those of Host::run().
Result<ToolEnd> run_live(const Host& host, const std::vector<std::string>& argv, std::chrono::seconds limit);
/// Runs a program of an offline root in a sandbox (sandbox.hpp); without a sandbox when the kernel refuses it and the
/// root is "/", an image that slipway itself runs in. Passes SOURCE_DATE_EPOCH on if it is set.
/// Errors: those of run_in_sandbox().
Result<ToolEnd> run_in_root(const core::RootFs& root, const std::vector<std::string>& argv, std::chrono::seconds limit);
/// Runs a program of this machine for a root that lacks it, in a sandbox whose "/" is that root: links of the root lead
/// to places of the root, and only the program and its libraries are visible of this machine, read-only. For an
/// ordinary user, and for an image that is "/", it runs without a sandbox, as `argv[0] ROOT_OPTION ROOT …`, with the
/// user's own rights. Errors: those of find_host_program() and run_in_sandbox(); `io`.
/// @param argv         as for the root's own program inside
/// @param root_option  the option that tells the program its root: "-b"
Result<ToolEnd> run_beside(const core::RootFs& root, const std::vector<std::string>& argv,
                           const std::string& root_option, std::chrono::seconds limit);
/// Checks that run_beside() works here, without running it. Errors: as there, `unsupported` and `not_found`.
Status check_beside(const Host& host, const std::string& program);
/// Checks that run_in_root() works here, without running anything of the root. Succeeds for a user who may not write to
/// the root and so only looks. Errors: `unsupported`, as from run_in_sandbox().
Status check_in_root(const Host& host);
/// Runs a program of this machine with the root as an argument. Errors: `not_found`, `timed_out`, `io`.
Result<ToolEnd> run_here(const std::vector<std::string>& argv, std::chrono::seconds limit);

/// Returns the command, with the parts that the sandbox lacked: for logs.
std::string command_text(const ToolEnd& end);

/// Returns the error for a root for another processor whose own tool would have to run.
Error needs_the_processor(const Host& host, const std::string& tool);

/// Returns the error for a tool that neither the root nor this machine has; this machine's would also do.
/// @param doing    the operation that needs it: "list the modules of kernel 6.1"
/// @param package  the package with the tool in every distribution
Error tool_missing(const Host& host, const std::string& tool, const std::string& doing, const std::string& package);

/// Returns the error for a tool that ended with a status other than 0: its status and last lines.
Error tool_failed(const ToolEnd& end, const std::string& doing, const std::string& next);

/// Returns a remedy for another root, as typed here: the commands in it that use a root's own programs ("apt-get
/// install make", "run `depmod 6.1`", "`/usr/bin/tool`") name the root: `chroot ROOT apt-get …`, `depmod -b ROOT …`.
std::string command_in_root(std::string remedy, const std::string& root);

/// Returns the last `count` lines of a text.
std::string last_lines(const std::string& text, std::size_t count);

/// Compresses from one descriptor's position to its end into the other. `format` is "xz" (CRC32, dictionary of 1 MiB:
/// what the kernel's decompressor accepts) or "zstd" (level 19). The same bytes always give the same result.
/// Errors: `invalid` for another format; `io`, `no_space`.
Status compress_file(const std::string& format, int from, int to, const std::string& path);

}  // namespace slipway::sandbox
