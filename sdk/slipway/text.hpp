// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/text.hpp - short texts: trimming, splitting and joining, base64, and the known word nearest to a mistyped
// one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// Returns the text without white space at both ends; a view into `text`.
std::string_view trimmed(std::string_view text);

/// Returns the parts between the separators, including empty ones: one part more than there are separators.
/// @tparam Part  std::string, or std::string_view for views into `text`
template <class Part = std::string>
std::vector<Part> split(std::string_view text, char separator);

/// Returns the words of a list such as "a, b": each is trimmed, and empty ones are left out.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

/// Returns the lines without their line ends; the last one need not have one. Part as for split().
template <class Part = std::string>
std::vector<Part> lines_of(std::string_view text);

/// Returns the lines with their line ends, which only the last one may lack; views into `text`.
std::vector<std::string_view> lines_with_ends(std::string_view text);

/// Returns "a, b, c", the inverse of split(). @param shown  the text of a part, a function or a member; by default
/// itself
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

/// Returns "a, b and c", with `last` as "and" or "or"; "" for no words.
std::string listed(const std::vector<std::string>& words, std::string_view last);

/// Returns "a, b and 3 more": names at most so many.
std::string first_few(const std::vector<std::string>& words, std::size_t most);

/// Returns the number of terminal columns of a text: counts characters of UTF-8, not bytes.
std::size_t width_of(std::string_view text);

/// Returns the text with blanks appended, up to so many columns.
std::string padded(std::string text, std::size_t width);

/// RFC 4648, section 4, with padding.
std::string base64_encoded(std::string_view bytes);

/// Returns the bytes of a text with or without padding; nothing when it is not base64. Drops bits that fill no byte.
std::optional<std::string> base64_decoded(std::string_view text);

/// Returns the number of insertions, deletions, changes of a character and swaps of neighbours that turn one word into
/// the other, ignoring letter case. Words of more than 100 bytes that differ count as different in all of them.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// Returns the known word nearest to `word`, or "" when none is near: at most a third of the longer word may differ,
/// and never more than 3 characters. Among equals the first in the list.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// Returns "; did you mean 'X'?", or "" when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

/// Returns "did you mean 'X'?", or `otherwise` when nothing is near: the next step in an error.
std::string suggestion(std::string_view word, const std::vector<std::string>& known, std::string_view otherwise);

/// Returns the `count` words that differ least from `word`, at any distance; among equals in the order of words.
std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known, std::size_t count);

}  // namespace slipway
