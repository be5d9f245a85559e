// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/text.hpp - short texts: trimmed, taken apart and joined, as base64, and the known word that a mistyped
// one was probably meant to be.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// Without white space at both ends; a view into `text`.
std::string_view trimmed(std::string_view text);

/// What stands between the separators, empty parts too: one part more than there are separators.
/// @tparam Part  std::string, or std::string_view for views into `text`
template <class Part = std::string>
std::vector<Part> split(std::string_view text, char separator);

/// The words of a list such as "a, b": each is trimmed, and empty ones are left out.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

/// The lines without their ends; the last one needs no end. Part as for split().
template <class Part = std::string>
std::vector<Part> lines_of(std::string_view text);

/// The lines with their ends, which only the last one may lack; views into `text`.
std::vector<std::string_view> lines_with_ends(std::string_view text);

/// "a, b, c": what split() takes apart. @param shown  the text of a part, a function or a member; by default itself
template <class Parts, class Shown = std::identity>
std::string joined(const Parts& parts, std::string_view between = ", ", const Shown& shown = {}) {
  std::string text;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) text += between;
    first = false;
    text += std::invoke(shown, part);
  }
  return text;
}

/// "a, b and c", with `last` as "and" or "or"; "" for none.
std::string listed(const std::vector<std::string>& words, std::string_view last);

/// "a, b and 3 more": at most so many by name.
std::string first_few(const std::vector<std::string>& words, std::size_t most);

/// How many columns of a terminal a text fills: characters of UTF-8, not bytes.
std::size_t width_of(std::string_view text);

/// The text with blanks behind it, up to so many columns.
std::string padded(std::string text, std::size_t width);

/// RFC 4648, section 4, with padding.
std::string base64_encoded(std::string_view bytes);

/// The bytes, with or without padding in the text; nothing when it is no base64. Bits that fill no byte are left out.
std::optional<std::string> base64_decoded(std::string_view text);

/// How many insertions, deletions, changes of a character and swaps of neighbours lead from one word to the other,
/// letter case aside. Words of more than 100 bytes that differ count as different in all of them.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The known word nearest to `word`, or "" when none is near: at most a third of the longer word may differ, and never
/// more than 3 characters. Among equals the first in the list.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean 'X'?", or "" when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

/// "did you mean 'X'?", or `otherwise` when nothing is near: what an error tells people to do next.
std::string suggestion(std::string_view word, const std::vector<std::string>& known, std::string_view otherwise);

/// The `count` words that differ least from `word`, however far they are; among equals in the order of words.
std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known, std::size_t count);

}  // namespace slipway
