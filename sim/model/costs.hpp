// SPDX-License-Identifier: Apache-2.0
// sim/model/costs.hpp - what the calls of a real driver cost, read from a file of profiles/costs.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "sim/state/machine.hpp"

namespace slipway::core {

/// Gives the machine the costs of FOLDER/costs/NAME.yaml, the first of the folders that has it. The format is
/// documented in sim/README.md.
/// Errors: `not_found`, naming the files there are; `invalid` with file, line and column.
Status apply_sim_costs(const std::string& name, const std::vector<std::string>& folders, sim::Machine& machine);

/// The names of all such files, sorted.
std::vector<std::string> sim_costs_names(const std::vector<std::string>& folders);

}  // namespace slipway::core
