// SPDX-License-Identifier: Apache-2.0
// sim/tool/change.hpp - the changes that slipway-sim can make to a machine.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Words of one command after its name. Errors: `invalid` with the command's usage.
using Words = std::vector<std::string>;

Status change_gpu(sim::Machine& machine, const Words& words);       ///< gpu N|all WHAT [VALUE]
Status change_driver(sim::Machine& machine, const Words& words);    ///< driver loaded|unloaded|mismatch|VERSION
Status change_process(sim::Machine& machine, const Words& words);   ///< process add|remove …
Status change_function(sim::Machine& machine, const Words& words);  ///< function NAME|all WHAT VALUE

std::string show_machine(const sim::Machine& machine);
std::string show_calls(const sim::Machine& machine);
std::string show_costs(const sim::Machine& machine);  ///< "NAME CALLS MICROSECONDS", and the sum

/// Reads a whole number that is not negative. Errors: `invalid`.
Result<std::uint64_t> number_of(const std::string& word);
Error usage(const std::string& what, const std::string& next);

}  // namespace slipway::sim
