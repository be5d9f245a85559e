// SPDX-License-Identifier: Apache-2.0
// core/action/build.hpp - compiles a layer in a private mount namespace of a root (action::Build).
#pragma once

#include <functional>
#include <string>

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
};

/// Errors: `not_found` something in `needs` is missing (what, and the hint); `build_failed` with the compiler's first
/// error line and where the log is; `unsupported` when namespaces are not allowed here.
Status run_build(const BuildRequest& request);

/// "sha256:…" of the canonical build: the name of its result and of a remembered failure.
std::string build_key(const Json& build);

}  // namespace slipway::core
