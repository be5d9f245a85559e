// SPDX-License-Identifier: Apache-2.0
// cli/render/page.hpp - a result for people: what others wrote is made printable in it, some words have a colour, and
// lines are broken where the terminal ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::core {

/// What a word means, which a terminal shows by a colour.
enum class Tone : char { plain = 'p', good = 'g', attention = 'a', bad = 'b', faint = 'f', heading = 'h' };

struct Toned {
  Tone tone = Tone::plain;
  std::string text;
};

using TableRow = std::vector<Toned>;

class Page {
 public:
  Page() = default;
  /// Lines; of each, control characters become escapes.
  explicit Page(std::string_view text) { add_lines(text); }

  /// A text that others may have written: control characters become escapes, line ends and tabs as well, so that it
  /// forges no line.
  Page& operator<<(std::string_view text);
  Page& operator<<(const std::string& text) { return *this << std::string_view(text); }
  /// A text of the program's own, which may have line ends.
  Page& operator<<(const char* text) { return add_lines(text); }
  Page& operator<<(char byte) { return add_lines({&byte, 1}); }
  Page& operator<<(int number) { return *this << std::to_string(number); }
  Page& operator<<(std::size_t number) { return *this << std::to_string(number); }
  Page& operator<<(const Toned& word);
  Page& operator<<(const Page& other);

  /// Rows of cells that begin below each other, two blanks apart. Of a row with fewer cells the last one goes on into
  /// the columns behind it, and a last cell that is too long goes on below where it began.
  Page& table(const std::vector<TableRow>& rows, std::size_t indent = 0);

  /// @param columns  of the terminal; 0: lines stay whole
  /// @param colour   the terminal shows colours
  std::string text(std::size_t columns, bool colour) const;

 private:
  Page& add_lines(std::string_view text);

  std::string marked_;  ///< printable text, with marks between that printable text cannot have
};

}  // namespace slipway::core
