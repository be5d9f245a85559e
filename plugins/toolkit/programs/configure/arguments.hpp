// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/configure/arguments.hpp - the command line of `slipway toolkit runtime configure`, which is
// that of `nvidia-ctk runtime configure`.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

inline constexpr const char* kConfigureTool = "slipway toolkit runtime configure";

struct ConfigureArguments {
  std::string engine;        ///< "containerd", "crio" or "docker"
  std::string root;          ///< the folder that all paths are in
  RuntimeSettings settings;  ///< what the component would have been told
  bool ask_engine = false;   ///< the handler to inherit from is the one that the engine says, not that of its files
  bool dry_run = false;
  std::vector<std::string> notes;  ///< options that mean nothing here
};

/// Errors: `usage`.
Result<ConfigureArguments> parse_configure_arguments(const std::vector<std::string>& words);

std::string configure_usage();

}  // namespace slipway::toolkit
