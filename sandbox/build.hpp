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

namespace slipway::core {

struct BuildRequest {
  Json build;              ///< as to_json(action::Build) makes it
  std::string source;      ///< host path of the unpacked source tree; copied, never changed
  std::string root = "/";  ///< root whose compiler and headers are used
  std::string headers;     ///< host path of a tree with usr/src and lib/modules laid over the root's; empty: none
  std::string into;        ///< host path of the new folder that takes the collected files
  std::string log;         ///< host path of the whole output of the compiler
  std::function<void(const std::string& line)> on_line;
  /// A line named the file that is being compiled: its path in the source, and how many were before it.
  std::function<void(const std::string& file, std::uint64_t before)> on_file;
  /// Dates that the build sees (KBUILD_BUILD_TIMESTAMP, __DATE__) and mtime of what it gives; empty: 1970 for the
  /// dates, since equal builds must give equal files.
  std::optional<std::int64_t> source_date_epoch;
  std::chrono::seconds limit{7200};
  const std::atomic<bool>* cancel = nullptr;  ///< once it is set, everything is killed
};

/// Compiles and collects. The source always lies at /usr/src/slipway-build inside, so that paths in the result are the
/// same wherever it is made; the root's files cannot be changed by it. Build and kernel release in `build.identity`
/// ("kernel_release" or "kernel") must agree with the vermagic of every collected kernel module (*.ko*).
///
/// Errors: `not_found` something in `needs` is missing (what, and the hint); `build_failed` with the compiler's first
/// error line and where the log is; `timed_out`, `cancelled`; `no_space` and `io` (out of memory) for failures that
/// another attempt may not meet; `unsupported` when namespaces are not allowed here.
Status run_build(const BuildRequest& request);

/// Whether run_build() will find what it needs in this root: asked when the build is planned. Errors: `not_found` what
/// is missing, with the hint; `unsupported` the root's programs cannot be run here.
Status check_build(const Json& build, const Host& host);
/// The error of something that a build needs, and the root has not.
Error build_needs(const Json& build, const std::string& missing, const std::string& root);

/// "sha256:…" of the canonical build: the name of its result and of a remembered failure.
std::string build_key(const Json& build);

}  // namespace slipway::core
