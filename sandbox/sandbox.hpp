// SPDX-License-Identifier: Apache-2.0
// sandbox/sandbox.hpp - runs a program of a root in namespaces of its own: nothing that it does to mounts,
// processes or the network is seen outside, and nothing of it is left when it ended.
//
// Inside are the root's files, a fresh /proc, an empty /sys, empty /tmp, /var/tmp and /run in memory, and of /dev only
// null, zero, full, random, urandom and tty. There is no network, and no socket but local ones where they are asked
// for; the host's name is "slipway", the umask 022. The program has a user namespace of its own where the kernel grants
// one: what it may do as root counts for files, and for nothing that belongs to the machine.
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

namespace slipway::core {

/// A folder or file of the host shown inside.
struct SandboxBind {
  std::string source;  ///< host path
  std::string target;  ///< path inside; must be there
  bool read_only = true;
};

/// Folders of the host laid over each other, read-only, the first on top (overlayfs).
struct SandboxOverlay {
  std::vector<std::string> layers;  ///< host paths
  std::string target;               ///< path inside; must be there
};

/// Where `tools` are shown.
inline constexpr const char* kToolsFolder = "/.slipway";

/// What all programs inside may use together, by the size of this machine: of its memory three quarters, and no more
/// than 4 GiB and another for each processor; 512 processes and 16 more for each.
ProcessLimits sandbox_limits();

struct Sandbox {
  std::string root;        ///< host path of the folder that is "/" inside
  bool read_only = false;  ///< the root, with everything mounted in it; else what is written there stays
  std::vector<SandboxOverlay> overlays;
  std::vector<SandboxBind> binds;  ///< after the overlays, in this order
  /// Files of the host, each shown as kToolsFolder/TARGET, read-only and beside the root's tree: "/" is then a folder
  /// in memory that shows the folders and links at the root's top, and in which nothing else is made.
  std::vector<SandboxBind> tools;
  std::vector<std::string> needs;        ///< paths that must be there inside (links followed)
  bool prepare_only = false;             ///< all is made ready, and nothing of the root is run
  std::string directory = "/";           ///< working folder inside
  std::vector<std::string> argv;         ///< argv[0] is looked up in PATH of `environment`, inside
  std::string name;                      ///< of the program in messages; empty: argv[0]
  bool local_sockets = false;            ///< sockets of the Unix family may be made; without, none at all
  std::vector<std::string> environment;  ///< all of it
  std::chrono::seconds limit{3600};
  ProcessLimits limits = sandbox_limits();
  std::uint64_t output_bytes = 256U << 20U;  ///< that it may print
  /// What the program prints, both streams together, as it comes.
  std::function<void(std::string_view)> on_output;
  /// Set by another thread or a signal handler: everything is killed. May be null.
  const std::atomic<bool>* cancel = nullptr;
};

struct SandboxEnd {
  int exit_status = 0;               ///< 0-255; 128 + signal when a signal ended it
  std::string missing;               ///< the first of `needs` that is not there; then nothing was run
  std::string no_user_namespace;     ///< why the program had none of its own; empty: it had one
  std::string no_network_namespace;  ///< why not; then no sockets could be made. Empty: it had one
};

/// Waits until the program and all that it started have ended. Dies with the calling thread.
/// Errors: `unsupported` when namespaces or mounts are not allowed here; `not_found` no such program inside;
/// `timed_out`, `cancelled` after everything was killed; `io` when it was stopped, or failed, for want of memory or
/// processes beyond the limits, or printed too much.
Result<SandboxEnd> run_in_sandbox(const Sandbox& request);

/// "PATH=…", "LC_ALL=C", "TZ=UTC", "HOME=/tmp", "TMPDIR=/tmp": what every program inside gets.
std::vector<std::string> sandbox_environment();

}  // namespace slipway::core
