// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/slipway-runtime/bundle.hpp - the bundle of a container that is about to be created, edited
// according to its request.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "toolkit/programs/slipway-runtime/command_line.hpp"
#include "toolkit/requests/config.hpp"

namespace slipway::shim {

/// The result, for the log.
struct Edited {
  std::vector<std::string> devices;  ///< empty: the bundle was not changed
  std::string source;                ///< the setting that asked for them
  std::vector<std::string> warnings;
  std::vector<std::string> edits;  ///< one line each, for `log-level = "debug"`
};

/// Reads the request, resolves it by the CDI specs of the host, and replaces the bundle's configuration by one rename.
/// Errors: those of read_request(), Specs::resolve(), check_requirements() and apply_edits(), those of reading and
/// writing. After an error the file is unchanged.
Result<Edited> prepare_bundle(const CommandLine& line, const Config& config);

/// Returns the first of the names that exists: paths unchanged, other names looked up in PATH. Never this program
/// itself, under any name, nor NVIDIA's runtime, which would start this list again. Errors: `not_found`, with all
/// names.
Result<std::string> find_low_level(const std::vector<std::string>& names);

/// Replaces this process by that program, with the same arguments and environment. Returns only on failure.
Error become(const std::string& program, char** words);

}  // namespace slipway::shim
