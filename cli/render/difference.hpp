// SPDX-License-Identifier: Apache-2.0
// cli/render/difference.hpp - compares two generations, for `slipway generations` and `slipway diff`.
#pragma once

#include <string>
#include <vector>

#include "core/journal/records.hpp"

namespace slipway::cli {

/// Returns the components that a generation has applied, sorted.
std::vector<std::string> applied_components(const core::Generation& generation);

/// Returns {"added": [NAME], "removed": [NAME], "changed": {NAME: [{"key", "from", "to"}]}}. A key is a dotted spec
/// key, or "package KEY" or "plugin" for tag and digest, or version and digest. A value is null if not found.
/// The name "" stands for the keys that belong to no component: the spec's name, its hardware and expect keys, and the
/// kernels.
Json difference(const core::Generation& from, const core::Generation& to);

/// Returns the difference in one line: "+cdi, -gfd, driver (version, package source)"; "nothing" when both
/// describe the same state.
std::string difference_line(const Json& difference);

/// Returns a line for each component and key.
std::string difference_text(const Json& difference);

}  // namespace slipway::cli
