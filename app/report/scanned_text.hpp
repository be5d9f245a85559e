// SPDX-License-Identifier: Apache-2.0
// app/report/scanned_text.hpp - a text to search, with a count of the work.
#pragma once

#include <cstddef>
#include <string_view>

namespace slipway::app {

/// Functions return `end` when they find nothing. A text may be one line of millions of words, so the work for each
/// word is limited to that word and the text up to the next one.
class ScannedText {
 public:
  static constexpr std::string_view kBlanks = " \t\r";
  static constexpr std::string_view kEndOfWord = " \t\r\n\"'`<>";

  explicit ScannedText(std::string_view text) : text_(text) {}
  std::size_t size() const { return text_.size(); }
  char operator[](std::size_t at) const { return text_[at]; }
  std::string_view part(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }

  std::size_t first_of(std::string_view characters, std::size_t at, std::size_t end) {
    return counted(at, end, part(at, end).find_first_of(characters));
  }
  std::size_t first_not_of(std::string_view characters, std::size_t at, std::size_t end) {
    return counted(at, end, part(at, end).find_first_not_of(characters));
  }
  std::size_t find(std::string_view word, std::size_t at, std::size_t end) {
    return counted(at, end, part(at, end).find(word));
  }
  template <class Is>
  std::size_t first_that_is_not(Is is, std::size_t at, std::size_t end) {
    std::size_t stop = at;
    while (stop < end && is(text_[stop])) ++stop;
    looked_at_ += stop - at + 1;
    return stop;
  }
  std::size_t skip_blanks(std::size_t at, std::size_t end) { return first_not_of(kBlanks, at, end); }
  /// Finds the end of each word once, whatever the starting position.
  std::size_t end_of_word(std::size_t at, std::size_t end) {
    if (at < word_begin_ || at > word_end_ || word_end_ > end) {
      word_begin_ = at;
      word_end_ = first_of(kEndOfWord, at, end);
    }
    return word_end_;
  }

  /// Returns the number of characters read, each counted as often as it was read.
  std::size_t looked_at() const { return looked_at_; }

 private:
  std::size_t counted(std::size_t at, std::size_t end, std::size_t found) {
    const std::size_t stop = found == std::string_view::npos ? end : at + found;
    looked_at_ += stop - at + 1;
    return stop;
  }

  std::string_view text_;
  std::size_t looked_at_ = 0;
  std::size_t word_begin_ = 1;  ///< of the word whose end is known; after its end: unknown
  std::size_t word_end_ = 0;
};

}  // namespace slipway::app
