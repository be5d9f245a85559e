// SPDX-License-Identifier: Apache-2.0
// cli/render/difference.hpp - what two generations differ in, for `slipway generations` and `slipway diff`.
#pragma once

#include <string>
#include <vector>

#include "core/journal/records.hpp"

namespace slipway::core {

/// The components that a generation has applied, sorted.
std::vector<std::string> applied_components(const Generation& generation);

/// {"added": [NAME], "removed": [NAME], "changed": {NAME: [{"key", "from", "to"}]}}: of spec keys by their dotted name,
/// and of what "package KEY" and "plugin" name: tag and digest, version and digest. A value is null where there is
/// none.
/// "" stands for what belongs to no component: the spec's name, its hardware and expect keys, and the kernels.
Json difference(const Generation& from, const Generation& to);

/// In a line: "+cdi, -gfd, driver (version, package source)"; "nothing".
std::string difference_line(const Json& difference);

/// A line for each component and key.
std::string difference_text(const Json& difference);

}  // namespace slipway::core
