// SPDX-License-Identifier: Apache-2.0
// cli/reference/reference.hpp - shell completions and the manual page, made from the tables of commands and options.
#pragma once

#include <string>

namespace slipway::core {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// slipway(1), as troff source.
std::string manual_page();

}  // namespace slipway::core
