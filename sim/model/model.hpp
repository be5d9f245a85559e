// SPDX-License-Identifier: Apache-2.0
// sim/model/model.hpp - reads what a GPU model is like: memory, clocks, links, MIG profiles; and what its driver's
// calls cost.
//
// One YAML file per model in the folder models/ beside the profiles, and one per set of costs in costs/; the formats
// are documented in sim/README.md.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "sim/state/machine.hpp"

namespace slipway::core {

/// Reads one model file. Errors: `not_found`; `invalid`, naming file:line:column and what was expected.
Result<sim::Model> read_sim_model(const std::string& file);

/// The model of that name (as NVML gives it), from the first of the folders that has it.
/// Errors: `not_found`, listing the models there are; those of read_sim_model().
Result<sim::Model> find_sim_model(const std::string& name, const std::vector<std::string>& folders);

/// Gives the machine the costs of FOLDER/costs/NAME.yaml, the first of the folders that has it. The format is
/// documented in sim/README.md.
/// Errors: `not_found`, naming the files there are; `invalid` with file, line and column.
Status apply_sim_costs(const std::string& name, const std::vector<std::string>& folders, sim::Machine& machine);

/// The names of all such files, sorted.
std::vector<std::string> sim_costs_names(const std::vector<std::string>& folders);

}  // namespace slipway::core
