// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/pattern.hpp - regular expressions of schemas, kept within bounds.
#pragma once

#include <string>

namespace slipway::core {

/// Why a text does not fit a pattern, as the end of a sentence; "" when it fits as a whole. Texts over 1 KiB fit none:
/// the standard library's matcher recurses per character.
std::string pattern_mismatch(const std::string& text, const std::string& pattern);

/// What is wrong with a pattern itself; "" when it can be used. Patterns are ECMAScript, at most 500 bytes.
std::string pattern_problem(const std::string& pattern);

}  // namespace slipway::core
