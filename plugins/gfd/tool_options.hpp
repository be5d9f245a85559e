// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/tool_options.hpp - the command line of gfd's tools, with the environment that gpu-feature-discovery
// knows.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "gfd/config.hpp"

namespace slipway::gfd {

struct ToolOptions {
  Config config;
  std::string output;                ///< --output; empty: standard output
  std::string form;                  ///< -o; empty: not given
  std::string node;                  ///< --node-name, NODE_NAME, else the host's name
  bool fail_without_driver = false;  ///< --fail-on-init-error
};

/// Command line over environment over config file over defaults. Relative paths are those of the working directory.
/// @param tool  "labels" or "devices"
/// Errors: `usage` for wrong options, and for those that the tool has no use for.
Result<ToolOptions> read_tool_options(std::string_view tool, const std::vector<std::string>& arguments);

inline constexpr const char* kLabelsUsage =
    "Usage: slipway gfd labels [-o text|json] [--output FILE] [--no-timestamp] [--mig-strategy none|single|mixed]\n"
    "                          [--config-file FILE] [--machine-type-file FILE] [--driver-root DIR]\n"
    "                          [--operator-labels] [--fail-on-init-error]\n\n"
    "Prints the node labels of GPU Feature Discovery, one key=value a line, sorted. With --output the file is "
    "replaced\n"
    "as a whole, and only when its content changes. Without a driver there are few labels, and no error unless\n"
    "--fail-on-init-error is given. GFD_… variables of gpu-feature-discovery count, after the command line.\n";
inline constexpr const char* kDevicesUsage =
    "Usage: slipway gfd devices [-o yaml|json] [--node-name NAME] [--output FILE] [--driver-root DIR]\n"
    "                           [--fail-on-init-error]\n\n"
    "Prints a Device object (gpu.nvidia.com/v1) for each GPU of this node. NAME is by default that of the variable\n"
    "NODE_NAME, else the host's name.\n";

}  // namespace slipway::gfd
