// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/configure/arguments.hpp - the command line of `slipway runtime configure`, which is that of
// `nvidia-ctk runtime configure`.
#pragma once

#include <string>
#include <vector>

#include <slipway/command_line.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

struct ConfigureArguments {
  std::string engine;        ///< "containerd", "crio" or "docker"
  std::string root;          ///< the folder that all paths are in
  RuntimeSettings settings;  ///< what the component would have been told
  bool ask_engine = false;   ///< the handler to inherit from is the one that the engine says, not that of its files
  bool dry_run = false;
  std::vector<std::string> notes;  ///< options that mean nothing here
};

CommandTable configure_line();
/// Errors: `usage`.
Result<ConfigureArguments> configure_arguments(const CommandWords& words);

}  // namespace slipway::toolkit
