// SPDX-License-Identifier: Apache-2.0
// plugin-check/check_plugin.hpp - tries out a finished plugin as its users will, on scratch roots, and describes its
// problems.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/result.hpp>

namespace slipway::plugin_check {

struct PluginTrial {
  std::string file;            ///< the plugin
  std::string spec;            ///< a host spec; empty: one made from the manifests' defaults and examples
  std::string sim = "h100x8";  ///< the simulated machine that has the hardware
  std::string root;            ///< a folder to copy for each scratch root; empty: a few files of any distribution
};

struct PluginReport {
  std::vector<std::string> components;
  Findings findings;  ///< "plugin.fresh-host", "plugin.killed", …
};

/// Tries a fresh host, a second run, an apply and a removal killed at their steps, missing hardware, an offline root,
/// and foreign files at the plan's paths. Each try has its own root below the temporary folder, which is removed
/// afterwards; this machine is not changed. A problem of the plugin is a finding.
/// Errors: those of read_plugin_file(); slipway's programs are missing; `no_space`, `io`.
Result<PluginReport> check_plugin(const PluginTrial& trial);

}  // namespace slipway::plugin_check
