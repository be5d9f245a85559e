// SPDX-License-Identifier: Apache-2.0
// cli/front/reference.hpp - the texts that never change between two builds: version, help, completions, manual page.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slipway::core {

/// The text that a command line asks for: the version, or one of PREFIX/share/slipway/reference, which the build made
/// of the tables of slipway-engine. Empty: it asks for something else, or the file is not there; slipway-engine then
/// answers.
std::optional<std::string> reference_text(const std::vector<std::string>& words, const std::string& prefix);

}  // namespace slipway::core
