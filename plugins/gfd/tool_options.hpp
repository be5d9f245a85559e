// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/tool_options.hpp - the command lines of gfd's tools, with the environment variables of
// gpu-feature-discovery.
#pragma once

#include <string>

#include <slipway/command_line.hpp>

#include "gfd/labels/config.hpp"

namespace slipway::gfd {

struct ToolOptions {
  Config config;
  std::string output;                ///< --output; empty: standard output
  bool json = false;                 ///< -o json
  std::string form;                  ///< -o
  std::string name_space;            ///< --namespace
  std::string node;                  ///< --node-name, or NODE_NAME, or the host's name
  bool fail_without_driver = false;  ///< --fail-on-init-error
};

CommandTable labels_line();
CommandTable devices_line();

/// Reads the options: the command line overrides the environment, which overrides the config file and the defaults.
/// Relative paths start at the working directory. Errors: those of the config file.
/// @param labels_tool  true: the options of `labels`; false: of `devices`
Result<ToolOptions> read_tool_options(const CommandWords& words, bool labels_tool);

}  // namespace slipway::gfd
