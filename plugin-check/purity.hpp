// SPDX-License-Identifier: Apache-2.0
// plugin-check/purity.hpp - whether detect and plan depend on what they are given and on nothing else: both are run
// again, as before and under another environment, and have to come to the same.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "plugin-check/trial.hpp"

namespace slipway::core {

/// A fault of the plugin, for a finding.
struct Impurity {
  std::string finding;  ///< "detect" or "plan"
  std::string text;
  std::string remedy;
};

struct PurityTrial {
  const Trial& host;                    ///< a fresh one; borrowed, and not changed
  std::string folder;                   ///< absolute, the one that all roots lie in
  std::vector<std::string> components;  ///< of the plugin
  const TrialRun& detected;             ///< what the two find under the environment of the host
  const TrialRun& planned;
};

/// Errors: those of running slipway.
Result<std::vector<Impurity>> impurities(const PurityTrial& trial);

}  // namespace slipway::core
