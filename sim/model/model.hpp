// SPDX-License-Identifier: Apache-2.0
// sim/model/model.hpp - reads the data of a GPU model: memory, clocks, links, MIG profiles; and the costs of its
// driver's calls.
//
// One YAML file per model in the folder models/ beside the profiles, and one per set of costs in costs/; the formats
// are documented in sim/README.md.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Reads one model file. Errors: `not_found`; `invalid`, with file:line:column and the expected value.
Result<sim::Model> read_sim_model(const std::string& file);

/// Returns the model of that name (NVML's), from the first of the folders that has it. Errors: `not_found`, with the
/// existing models; those of read_sim_model().
Result<sim::Model> find_sim_model(const std::string& name, const std::vector<std::string>& folders);

/// Gives the machine the costs of FOLDER/costs/NAME.yaml, the first of the folders that has it. The format is
/// documented in sim/README.md. Errors: `not_found`, with the existing files; `invalid` with file, line and column.
Status apply_sim_costs(const std::string& name, const std::vector<std::string>& folders, sim::Machine& machine);

/// Returns the names of all such files, sorted.
std::vector<std::string> sim_costs_names(const std::vector<std::string>& folders);

}  // namespace slipway::sim
