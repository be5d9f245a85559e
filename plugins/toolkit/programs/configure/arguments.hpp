// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/configure/arguments.hpp - the command line of `slipway runtime configure`, the same as that
// of `nvidia-ctk runtime configure`.
#pragma once

#include <string>
#include <vector>

#include <slipway/command_line.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

struct ConfigureArguments {
  std::string engine;        ///< "containerd", "crio" or "docker"
  std::string root;          ///< the folder that contains all paths
  RuntimeSettings settings;  ///< the settings that the component would use
  bool ask_engine = false;   ///< ask the running engine, not its files, for the handler to inherit from
  bool dry_run = false;
  std::vector<std::string> notes;  ///< options without effect here
};

CommandTable configure_line();
/// Errors: `usage`.
Result<ConfigureArguments> configure_arguments(const CommandWords& words);

}  // namespace slipway::toolkit
