// SPDX-License-Identifier: Apache-2.0
// artifact/oci/nearest.hpp - the names that somebody who mistyped one may have meant.
#pragma once

#include <string>
#include <vector>

#include <slipway/error.hpp>

namespace slipway::artifact {

/// The `count` names that differ least from `wanted` (edit distance, then order of names).
std::vector<std::string> nearest_names(const std::string& wanted, std::vector<std::string> names, std::size_t count);

/// The error for a tag that a source does not have: names the nearest ones, or says that there are none at all.
Error no_such_tag(const std::string& source, const std::string& tag, const std::vector<std::string>& tags);

}  // namespace slipway::artifact
