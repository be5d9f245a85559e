// SPDX-License-Identifier: Apache-2.0
// plugins/mig/draw/rows.hpp - the lines of text that show blocks: boxes with names in, below a scale of memory slices.
//
//   slice       0       1       2       3       4       5       6       7
//           +-------+-------+---------------+                       +-------+
//           |1g.10gb|1g.10gb|    2g.20gb    |  free    free    free | ...
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mig/draw/blocks.hpp"

namespace slipway::mig {

/// Properties of the terminal.
struct TerminalStyle {
  bool utf8 = false;  ///< box-drawing characters; else only ASCII
  bool colour = false;
};

enum class Tone { plain, heading, faint, attention };

/// Returns the text in the colour of the tone.
std::string painted(const TerminalStyle& style, Tone tone, const std::string& text);

/// A line of text that can be filled at any column.
class TextLine {
 public:
  void put(std::size_t column, std::string_view ascii, Tone tone = Tone::plain);
  /// A sign may be a UTF-8 character. @param end  the column behind the last one
  void fill(std::size_t column, std::size_t end, std::string_view sign);
  /// Returns the text without trailing blanks.
  std::string text(const TerminalStyle& style) const;

 private:
  struct Place {
    std::string sign = " ";
    Tone tone = Tone::plain;
  };
  Place& at(std::size_t column);
  std::vector<Place> places_;
};

/// Maps blocks to columns of text.
class Rows {
 public:
  /// Maximum width of a line, with the gutter.
  static constexpr std::size_t kWidth = 74;
  /// Columns at the left, for a word that names the line.
  static constexpr std::size_t kGutter = 9;

  Rows(std::vector<Block> blocks, unsigned slices, const TerminalStyle& style);

  /// Returns the numbers of the memory slices.
  std::string scale() const;
  /// Empty if there is no box.
  std::string border(bool is_top) const;
  /// @param in_use  memory slices at which used instances begin
  std::string names(std::string_view gutter, const std::set<unsigned>& in_use) const;
  /// True when a GPU instance is not a single compute instance of its size.
  bool has_parts() const;
  /// Returns the contents of the GPU instances.
  std::string parts() const;
  /// Returns a line of marks below instances; empty if there are none. @param mark_of  the mark of an instance, or of
  /// one of its cells
  std::string marks(const std::function<char(const Block& block, const Cell* cell)>& mark_of) const;

  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::size_t column(unsigned slice) const { return kGutter + slice * unit_; }
  /// Returns the column where a compute slice begins inside a box.
  std::size_t column(const Block& block, unsigned compute_slice) const;
  void centre(TextLine& line, std::size_t begin, std::size_t end, const std::vector<std::string>& names,
              Tone tone) const;
  void bars(TextLine& line) const;

  std::vector<Block> blocks_;
  unsigned slices_;
  std::size_t unit_;  ///< columns of a memory slice
  TerminalStyle style_;
};

}  // namespace slipway::mig
