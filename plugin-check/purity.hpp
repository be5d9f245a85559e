// SPDX-License-Identifier: Apache-2.0
// plugin-check/purity.hpp - checks that detect and plan depend only on their inputs: both are run again, in the same
// and in other environments, and must give the same results.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "plugin-check/trial.hpp"

namespace slipway::plugin_check {

/// A violation by the plugin, for a finding.
struct Impurity {
  std::string finding;  ///< "detect" or "plan"
  std::string text;
  std::string remedy;
};

struct PurityTrial {
  const Trial& host;                    ///< a fresh one; borrowed, and not changed
  std::string folder;                   ///< absolute, the parent of all roots
  std::vector<std::string> components;  ///< of the plugin
  const TrialRun& detected;             ///< the results of both in the environment of the host
  const TrialRun& planned;
};

/// Errors: those of running slipway.
Result<std::vector<Impurity>> impurities(const PurityTrial& trial);

}  // namespace slipway::plugin_check
