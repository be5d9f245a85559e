// SPDX-License-Identifier: Apache-2.0
// sandbox/build.hpp - compiles a layer in a private mount namespace of a root (action::Build).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::sandbox {

struct BuildRequest {
  Json build;              ///< in the form of to_json(action::Build)
  std::string source;      ///< host path of the unpacked source tree; copied, never changed
  std::string root = "/";  ///< root whose compiler and headers are used
  std::string headers;     ///< host path of a tree with usr/src and lib/modules laid over the root's; empty: none
  std::string into;        ///< host path of the new folder for the collected files
  std::string log;         ///< host path of the compiler's complete output
  std::function<void(const std::string& line)> on_line;
  /// Called when a line named the file being compiled: its path in the source, and the number of files before it.
  std::function<void(const std::string& file, std::uint64_t before)> on_file;
  /// Dates that the build sees (KBUILD_BUILD_TIMESTAMP, __DATE__) and mtime of its results; empty: 1970 for the dates,
  /// since equal builds must give equal files.
  std::optional<std::int64_t> source_date_epoch;
  std::chrono::seconds limit{7200};
  const std::atomic<bool>* cancel = nullptr;  ///< set it to kill everything
};

/// Compiles and collects. The source is always at /usr/src/slipway-build inside, so that paths in the result are the
/// same everywhere; the build cannot change the root's files. Build and kernel release in `build.identity`
/// ("kernel_release" or "kernel") must agree with the vermagic of every collected kernel module (*.ko*).
///
/// Errors: `not_found` a path in `needs` is missing (with the hint); `build_failed` with the compiler's first error
/// line and the log's path; `timed_out`, `cancelled`; `no_space` and `io` (out of memory) for failures that may not
/// happen in another attempt; `unsupported` when namespaces are not allowed here.
Status run_build(const BuildRequest& request);

/// Checks when a build is planned that run_build() will find its needs in this root. Errors: `not_found` the missing
/// path, with the hint; `unsupported` the root's programs cannot run here.
Status check_build(const Json& build, const Host& host);
/// Returns the error for a path that a build needs and the root lacks.
Error build_needs(const Json& build, const std::string& missing, const std::string& root);

/// Returns "sha256:…" of the canonical build: the name of its result and of a recorded failure.
std::string build_key(const Json& build);

}  // namespace slipway::sandbox
