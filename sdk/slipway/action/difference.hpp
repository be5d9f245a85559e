// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/action/difference.hpp - in which keys two actions differ, for messages about plans that are not equal.
#pragma once

#include <string>

#include <slipway/json.hpp>

namespace slipway {

/// "mode: 420 -> 384; content, line 2: \"a\" -> \"b\"": each key with its value in both, a few of them. Long values are
/// cut; secrets, and the content of files that not everybody may read, are not shown. Empty when the two are equal.
/// @param before  Action::json() of the one
std::string action_difference(const Json& before, const Json& after);

}  // namespace slipway
