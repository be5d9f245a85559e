// SPDX-License-Identifier: Apache-2.0
// cli/render/page.hpp - a result for users: escapes unprintable characters of untrusted texts, colours some words, and
// wraps lines at the terminal's width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cli {

/// The meaning of a word, which a terminal shows as a colour.
enum class Tone : char { plain = 'p', good = 'g', attention = 'a', bad = 'b', faint = 'f', heading = 'h' };

struct Toned {
  Tone tone = Tone::plain;
  std::string text;
};

using TableRow = std::vector<Toned>;

class Page {
 public:
  Page() = default;
  /// Adds lines, with control characters escaped in each.
  explicit Page(std::string_view text) { add_lines(text); }

  /// Adds an untrusted text: escapes control characters including line ends and tabs, so that it cannot forge a line.
  Page& operator<<(std::string_view text);
  Page& operator<<(const std::string& text) { return *this << std::string_view(text); }
  /// Adds a text of the program itself, which may have line ends.
  Page& operator<<(const char* text) { return add_lines(text); }
  Page& operator<<(char byte) { return add_lines({&byte, 1}); }
  Page& operator<<(int number) { return *this << std::to_string(number); }
  Page& operator<<(std::size_t number) { return *this << std::to_string(number); }
  Page& operator<<(const Toned& word);
  Page& operator<<(const Page& other);

  /// Adds rows of cells in aligned columns, two blanks apart. In a row with fewer cells the last one extends over the
  /// remaining columns; a last cell that is too long is wrapped below its start.
  Page& table(const std::vector<TableRow>& rows, std::size_t indent = 0);

  /// @param columns  of the terminal; 0: lines are not wrapped
  /// @param colour   the terminal shows colours
  std::string text(std::size_t columns, bool colour) const;

 private:
  Page& add_lines(std::string_view text);

  std::string marked_;  ///< printable text, with marks in between that it cannot contain
};

}  // namespace slipway::cli
