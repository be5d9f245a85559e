// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/shim/bundle.hpp - the bundle of a container that is about to be made, edited as its request says.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "toolkit/programs/shim/command_line.hpp"
#include "toolkit/programs/shim/config.hpp"

namespace slipway::shim {

/// What was done, for the log.
struct Edited {
  std::vector<std::string> devices;  ///< empty: the bundle was not touched
  std::string source;                ///< what asked for them
  std::vector<std::string> warnings;
};

/// Reads the request, resolves it by the CDI specs of the host, and replaces the bundle's configuration by one rename.
/// Errors: those of read_request(), Specs::resolve() and apply_edits(), of reading and writing. The file is as it was
/// then.
Result<Edited> prepare_bundle(const CommandLine& line, const Config& config);

}  // namespace slipway::shim
