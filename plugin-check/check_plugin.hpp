// SPDX-License-Identifier: Apache-2.0
// plugin-check/check_plugin.hpp - tries a finished plugin out as its users will, on scratch roots, and says in words
// what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

struct PluginTrial {
  std::string file;            ///< the plugin
  std::string spec;            ///< a host spec; empty: one made of the manifests' defaults and examples
  std::string sim = "h100x8";  ///< the simulated machine that has the hardware
  std::string root;            ///< a folder that each scratch root is a copy of; empty: a few files of any distribution
};

struct PluginReport {
  std::vector<std::string> components;
  Findings findings;  ///< "plugin.fresh-host", "plugin.killed", …
};

/// A fresh host, a second run, an apply and a removal killed at their steps, no hardware, an offline root, files of
/// somebody else's in the way. Each in a root of its own below the temporary folder, which is gone afterwards; nothing
/// of this machine is touched. What is wrong with the plugin is a finding.
/// Errors: those of read_plugin_file(); slipway's programs are missing; `no_space`, `io`.
Result<PluginReport> check_plugin(const PluginTrial& trial);

}  // namespace slipway::core
