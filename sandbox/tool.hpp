// SPDX-License-Identifier: Apache-2.0
// sandbox/tool.hpp - runs the tools that triggers need (the live machine's, the root's own, or this machine's), and
// compresses modules.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "core/host/root_fs.hpp"

namespace slipway::core {

struct ToolEnd {
  int status = 0;
  std::string output;                  ///< both streams, the newest 256 KiB
  std::string command;                 ///< as a person would type it
  std::string no_user_namespace;       ///< why a program in the sandbox had none; empty: it had, or was not there
  std::string no_network_namespace{};  ///< why not, and so no sockets; empty: it had one, or was not there
};

/// The root has a program of this name in one of its usual folders.
bool root_has_tool(const Host& host, const std::string& name);
/// So has this machine, the one that slipway runs on: run_here() finds it.
bool machine_has_tool(const std::string& name);
/// Programs of the root can be run here: by this processor, or by qemu-user that the kernel starts for them
/// (binfmt_misc) and that needs nothing inside the root.
bool root_runs_here(const Host& host);
/// The same by hand. @param formats  the folder of binfmt_misc
bool runs_here(const std::string& arch, const std::string& machine, const std::string& formats);

/// A program of the live machine. Errors: those of Host::run().
Result<ToolEnd> run_live(const Host& host, const std::vector<std::string>& argv, std::chrono::seconds limit);
/// A program of a root that is not live, in a sandbox (sandbox.hpp); without one where the kernel refuses it and the
/// root is "/", an image that slipway itself runs in. SOURCE_DATE_EPOCH is handed on where there is one.
/// Errors: those of run_in_sandbox().
Result<ToolEnd> run_in_root(const RootFs& root, const std::vector<std::string>& argv, std::chrono::seconds limit);
/// A program of this machine that serves a root which has none, in a sandbox whose "/" is that root: links of the root
/// lead to places of the root, and of this machine nothing is to be seen but the program and its libraries, read-only.
/// An ordinary user's is run without, as `argv[0] ROOT_OPTION ROOT …`: it can do there what they can. So is one for an
/// image that is "/". Errors: those of find_host_program() and run_in_sandbox(); `io`.
/// @param argv         as the root's own would be run inside
/// @param root_option  by which the program is told a root: "-b"
Result<ToolEnd> run_beside(const RootFs& root, const std::vector<std::string>& argv, const std::string& root_option,
                           std::chrono::seconds limit);
/// Whether run_beside() works here, found out without running it. Errors: as there, `unsupported` and `not_found`.
Status check_beside(const Host& host, const std::string& program);
/// Whether run_in_root() works here, found out without running anything of the root. Who may not write to the root only
/// looks, and is not told what they could not do. Errors: `unsupported`, as run_in_sandbox() gives it.
Status check_in_root(const Host& host);
/// A program of this machine, which is told the root by an argument. Errors: `not_found`, `timed_out`, `io`.
Result<ToolEnd> run_here(const std::vector<std::string>& argv, std::chrono::seconds limit);

/// The command, with what the sandbox lacked: for logs.
std::string as_it_ran(const ToolEnd& end);

/// The error of a root for another processor whose own tool would have to run.
Error needs_the_processor(const Host& host, const std::string& tool);

/// The error of a tool that nobody has, for which another root is served by this machine's as well.
/// @param doing    what cannot be done without it: "list the modules of kernel 6.1"
/// @param package  that brings the tool in every distribution
Error tool_missing(const Host& host, const std::string& tool, const std::string& doing, const std::string& package);

/// The error of a tool that ended with a status other than 0: its status and last lines.
Error tool_failed(const ToolEnd& end, const std::string& doing, const std::string& next);

/// A remedy for another root, as it is typed here: the commands in it that work with a root's own programs ("apt-get
/// install make", "run `depmod 6.1`", "`/usr/bin/tool`") name it: `chroot ROOT apt-get …`, `depmod -b ROOT …`.
std::string command_in_root(std::string remedy, const std::string& root);

/// The last `count` lines of a text.
std::string last_lines(const std::string& text, std::size_t count);

/// From one descriptor's position to its end into the other. `format` is "xz" (CRC32, dictionary of 1 MiB: what the
/// kernel's decompressor accepts) or "zstd" (level 19). The same bytes always give the same result.
/// Errors: `invalid` for another format; `io`, `no_space`.
Status compress_file(const std::string& format, int from, int to, const std::string& path);

}  // namespace slipway::core
