// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/scalar_source.hpp - the positions of a YAML scalar's letters in its file: a config that is a
// text in a ConfigMap has its errors there.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::nvidia::config {

/// A line and a column (in bytes), both from 1.
struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// The offset of each line in a text. Shared by all scalars of a file, which may have many entries and lines.
using Lines = std::shared_ptr<const std::vector<std::size_t>>;
Lines lines_in(std::string_view text);

/// Maps positions in a scalar's text to the file, through quotes, escapes, folded lines and indentation.
class ScalarSource {
 public:
  /// @param file   the text of the file
  /// @param begin  place where the scalar begins: its quote, its | or >, or its first letter
  /// @param text   the scalar's value according to YAML
  ScalarSource(std::string_view file, TextPlace begin, std::string_view text)
      : ScalarSource(file, lines_in(file), begin, text) {}
  ScalarSource(std::string_view file, Lines lines, TextPlace begin, std::string_view text);

  /// Returns the place in the file of a place in the text; the scalar's beginning if it cannot be mapped.
  TextPlace place_of(TextPlace inside) const;

 private:
  TextPlace begin_;
  Lines file_lines_;                     ///< of the file
  std::vector<std::size_t> text_lines_;  ///< the same for the text
  std::vector<std::size_t> offsets_;     ///< offset in the file of each byte of the text; empty: it cannot be mapped
};

}  // namespace slipway::nvidia::config
