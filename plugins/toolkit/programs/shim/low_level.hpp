// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/shim/low_level.hpp - the OCI runtime that does the work: runc, crun or another.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::shim {

/// The first of the names that is there: paths as they are, other names looked up in PATH. Never this program itself,
/// under whatever name it is installed. Errors: `not_found`, naming all.
Result<std::string> find_low_level(const std::vector<std::string>& names);

/// Becomes that program, with the same arguments and environment. Returns only when that fails.
Error become(const std::string& program, char** words);

}  // namespace slipway::shim
