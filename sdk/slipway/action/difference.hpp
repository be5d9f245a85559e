// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/action/difference.hpp - describes how two actions differ, for messages about unequal plans.
#pragma once

#include <string>

#include <slipway/json.hpp>

namespace slipway {

/// Returns each key with its value in both, a few of them: "mode: 420 -> 384; content, line 2: \"a\" -> \"b\"".
/// Shortens long values; does not show secrets, nor the content of files that not every user may read. Empty when the
/// two are equal.
/// @param before  Action::json() of the first action
std::string action_difference(const Json& before, const Json& after);

}  // namespace slipway
