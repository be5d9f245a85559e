// SPDX-License-Identifier: Apache-2.0
// cli/front/option_table.hpp - the options that several of slipway's own commands share.
#pragma once

#include <string>
#include <vector>

#include <slipway/command_line.hpp>

namespace slipway::cli {

const std::vector<CommandOption>& all_options();

/// Returns the options of these names, in the order of all_options().
std::vector<CommandOption> options_named(const std::vector<std::string>& names);

}  // namespace slipway::cli
