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

/// What the terminal shows.
struct Look {
  bool utf8 = false;  ///< box-drawing characters; else all of it is ASCII
  bool colour = false;
};

enum class Tone { plain, heading, faint, attention };

/// The text in the colour of the tone.
std::string painted(const Look& look, Tone tone, const std::string& text);

/// A line of text that is filled at any column.
class TextLine {
 public:
  void put(std::size_t column, std::string_view ascii, Tone tone = Tone::plain);
  /// A sign may be a character of UTF-8. @param end  the column behind the last one
  void fill(std::size_t column, std::size_t end, std::string_view sign);
  /// Without blanks at its end.
  std::string text(const Look& look) const;

 private:
  struct Place {
    std::string sign = " ";
    Tone tone = Tone::plain;
  };
  Place& at(std::size_t column);
  std::vector<Place> places_;
};

/// How blocks become columns of text.
class Rows {
 public:
  /// No line is wider, with the gutter.
  static constexpr std::size_t kWidth = 74;
  /// Columns at the left, for a word that says what the line shows.
  static constexpr std::size_t kGutter = 9;

  Rows(std::vector<Block> blocks, unsigned slices, const Look& look);

  /// The numbers of the memory slices.
  std::string scale() const;
  /// Empty where there is no box.
  std::string border(bool is_top) const;
  /// @param in_use  memory slices at which instances begin that processes use
  std::string names(std::string_view gutter, const std::set<unsigned>& in_use) const;
  /// Some GPU instance is not one compute instance of its size.
  bool has_parts() const;
  /// What is inside the GPU instances.
  std::string parts() const;
  /// A line of marks below instances; empty where there are none. @param mark_of  the mark of an instance, or of a cell
  /// of one
  std::string marks(const std::function<char(const Block& block, const Cell* cell)>& mark_of) const;

  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::size_t column(unsigned slice) const { return kGutter + slice * unit_; }
  /// Where a compute slice begins inside a box.
  std::size_t column(const Block& block, unsigned compute_slice) const;
  void centre(TextLine& line, std::size_t begin, std::size_t end, const std::vector<std::string>& names,
              Tone tone) const;
  void bars(TextLine& line) const;

  std::vector<Block> blocks_;
  unsigned slices_;
  std::size_t unit_;  ///< columns of a memory slice
  Look look_;
};

}  // namespace slipway::mig
