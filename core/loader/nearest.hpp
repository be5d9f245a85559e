// SPDX-License-Identifier: Apache-2.0
// core/loader/nearest.hpp - the known word that a mistyped one was probably meant to be.
#pragma once

#include <string>
#include <vector>

namespace slipway::core {

/// The known word nearest to `word`, or "" when none is near. Distance: insertions, deletions, changes of a character
/// and swaps of neighbours, letter case aside; near is at most a third of the longer word, and never more than 3.
/// Among equals the first in the list.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean 'X'?", or "" when nothing is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

/// "a, b and c" with `last` as "and" or "or"; "" for none.
std::string joined(const std::vector<std::string>& words, const std::string& last);

}  // namespace slipway::core
