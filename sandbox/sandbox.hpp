// SPDX-License-Identifier: Apache-2.0
// sandbox/sandbox.hpp - runs a program of a root in its own namespaces: its changes to mounts, processes and the
// network are not visible outside, and none of its processes remains after it has ended.
//
// Inside are the root's files, a new /proc, an empty /sys, empty /tmp, /var/tmp and /run in memory, and in /dev only
// null, zero, full, random, urandom and tty. There is no network, and there are no sockets except local ones on
// request; the host's name is "slipway", the umask 022. The program has its own user namespace if the kernel allows it:
// its rights as root then only apply to files, not to anything of the machine.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

#include "base/confine/process_limits.hpp"

namespace slipway::sandbox {

/// A folder or file of the host to show inside.
struct SandboxBind {
  std::string source;  ///< host path
  std::string target;  ///< path inside; must exist
  bool read_only = true;
};

/// Folders of the host combined by overlayfs, read-only, the first on top.
struct SandboxOverlay {
  std::vector<std::string> layers;  ///< host paths
  std::string target;               ///< path inside; must exist
};

/// The folder in which `tools` are shown.
inline constexpr const char* kToolsFolder = "/.slipway";

/// Returns the limits for all programs inside together, depending on this machine: three quarters of its memory, and at
/// most 4 GiB plus 1 GiB for each processor; 512 processes plus 16 for each processor.
base::ProcessLimits sandbox_limits();

struct Sandbox {
  std::string root;        ///< host path of the folder used as "/" inside
  bool read_only = false;  ///< the root with everything mounted in it; otherwise changes stay
  std::vector<SandboxOverlay> overlays;
  std::vector<SandboxBind> binds;  ///< after the overlays, in this order
  /// Files of the host, each shown as kToolsFolder/TARGET, read-only and beside the root's tree: "/" is then a folder
  /// in memory that shows the folders and links at the root's top, and in which nothing else is made.
  std::vector<SandboxBind> tools;
  std::vector<std::string> needs;        ///< paths that must exist inside (links followed)
  bool prepare_only = false;             ///< prepares everything, and runs nothing of the root
  std::string directory = "/";           ///< working folder inside
  std::vector<std::string> argv;         ///< argv[0] is looked up in PATH of `environment`, inside
  std::string name;                      ///< the program's name in messages; empty: argv[0]
  bool local_sockets = false;            ///< allows sockets of the Unix family; without it there are no sockets
  std::vector<std::string> environment;  ///< the complete environment
  std::chrono::seconds limit{3600};
  base::ProcessLimits limits = sandbox_limits();
  std::uint64_t output_bytes = 256U << 20U;  ///< maximum output
  /// Receives the program's output, both streams together, as it arrives.
  std::function<void(std::string_view)> on_output;
  /// Set by another thread or a signal handler to kill everything. May be null.
  const std::atomic<bool>* cancel = nullptr;
};

struct SandboxEnd {
  int exit_status = 0;               ///< 0-255; 128 + signal when a signal ended it
  std::string missing;               ///< the first missing path of `needs`; then nothing was run
  std::string no_user_namespace;     ///< why the program had no user namespace; empty: it had one
  std::string no_network_namespace;  ///< why the program had none, and so no sockets; empty: it had one
};

/// Waits until the program and all its descendants have ended. Ends with the calling thread.
/// Errors: `unsupported` when namespaces or mounts are not allowed here; `not_found` no such program inside;
/// `timed_out`, `cancelled` after everything was killed; `io` when it was stopped, or failed, because of the limits of
/// memory or processes, or printed too much.
Result<SandboxEnd> run_in_sandbox(const Sandbox& request);

/// Returns the environment of every program inside: "PATH=…", "LC_ALL=C", "TZ=UTC", "HOME=/tmp", "TMPDIR=/tmp".
std::vector<std::string> sandbox_environment();

}  // namespace slipway::sandbox
