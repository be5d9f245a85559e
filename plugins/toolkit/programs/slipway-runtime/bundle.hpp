// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/slipway-runtime/bundle.hpp - the bundle of a container that is about to be made, edited as
// its request says.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "toolkit/programs/slipway-runtime/command_line.hpp"
#include "toolkit/requests/config.hpp"

namespace slipway::shim {

/// What was done, for the log.
struct Edited {
  std::vector<std::string> devices;  ///< empty: the bundle was not touched
  std::string source;                ///< what asked for them
  std::vector<std::string> warnings;
  std::vector<std::string> edits;  ///< a line each, for `log-level = "debug"`
};

/// Reads the request, resolves it by the CDI specs of the host, and replaces the bundle's configuration by one rename.
/// Errors: those of read_request(), Specs::resolve(), check_requirements() and apply_edits(), of reading and writing.
/// The file is as it was then.
Result<Edited> prepare_bundle(const CommandLine& line, const Config& config);

/// The first of the names that is there: paths as they are, other names looked up in PATH. Never this program itself,
/// under whatever name it is installed, nor NVIDIA's runtime, which would start this one's list again. Errors:
/// `not_found`, naming all.
Result<std::string> find_low_level(const std::vector<std::string>& names);

/// Becomes that program, with the same arguments and environment. Returns only when that fails.
Error become(const std::string& program, char** words);

}  // namespace slipway::shim
