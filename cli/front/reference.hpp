// SPDX-License-Identifier: Apache-2.0
// cli/front/reference.hpp - the texts that are fixed at build time: version, help, completions, manual page.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slipway::cli {

/// Returns the text that a command line asks for: the version, or a file of PREFIX/share/slipway/reference, which the
/// build made from the tables of slipway-engine. Empty when it asks for something else, or the file is missing;
/// slipway-engine then answers.
std::optional<std::string> reference_text(const std::vector<std::string>& words, const std::string& prefix);

}  // namespace slipway::cli
