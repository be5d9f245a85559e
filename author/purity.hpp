// SPDX-License-Identifier: Apache-2.0
// author/purity.hpp - whether detect and plan lean on what they are given and on nothing else: looked at twice, under
// another environment and clock, and with a watch on what they open past their Host.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "author/trial.hpp"

namespace slipway::core {

/// A fault of the plugin, for a finding.
struct Impurity {
  std::string finding;  ///< "detect", "plan" or "host"
  std::string text;
  std::string remedy;
  bool only_warns = false;  ///< something that a plugin may do, and that surprises its users
};

struct PurityTrial {
  const Trial& host;                    ///< a fresh one; borrowed, and not changed
  std::string plugin;                   ///< the file name of its library
  std::string folder;                   ///< absolute, the one that all roots lie in
  std::string watch;                    ///< slipway-watch.so; empty: not there, so nothing is watched
  std::vector<std::string> components;  ///< of the plugin
  const TrialRun& detected;             ///< what the two find under the environment of the host
  const TrialRun& planned;
};

/// Errors: those of running slipway.
Result<std::vector<Impurity>> impurities(const PurityTrial& trial);

}  // namespace slipway::core
