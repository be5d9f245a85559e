// SPDX-License-Identifier: Apache-2.0
// sim/model/model.hpp - reads what a GPU model is like: memory, clocks, links, MIG profiles.
//
// One YAML file per model in the folder models/ beside the profiles; the format is documented in sim/README.md.
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

}  // namespace slipway::core
