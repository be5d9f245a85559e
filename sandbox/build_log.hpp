// SPDX-License-Identifier: Apache-2.0
// sandbox/build_log.hpp - finds what went wrong in the output of a compile.
#pragma once

#include <optional>
#include <string>

#include <slipway/error.hpp>

namespace slipway::core {

struct BuildProblem {
  std::string line;     ///< "nvidia/nv-pci.c:223:9: error: too few arguments to function 'f'"
  std::string context;  ///< that line with what the compiler showed around it
  /// build_failed; no_space or io (out of memory) for what another attempt may not meet
  ErrorCode code = ErrorCode::build_failed;
};

/// The first error of a compiler; else of a linker or modpost; else of make. Nothing when none is recognised.
/// @param folder  where the source lay: taken off the front of paths
std::optional<BuildProblem> find_problem(const std::string& log, const std::string& folder);

}  // namespace slipway::core
