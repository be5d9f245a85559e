// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/scalar_source.hpp - where the letters of a YAML scalar stand in its file: a config that is a
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

/// Where each line of a text begins. Shared by all scalars of a file: it may have many entries, and many lines.
using Lines = std::shared_ptr<const std::vector<std::size_t>>;
Lines lines_in(std::string_view text);

/// Follows a scalar through quotes, escapes, folded lines and indentation.
class ScalarSource {
 public:
  /// @param file   the text of the file
  /// @param begin  where the scalar begins there: its quote, its | or >, or its first letter
  /// @param text   what YAML reads it as
  ScalarSource(std::string_view file, TextPlace begin, std::string_view text)
      : ScalarSource(file, lines_in(file), begin, text) {}
  ScalarSource(std::string_view file, Lines lines, TextPlace begin, std::string_view text);

  /// The place in the file of a place in the text. Where the file cannot be followed: where the scalar begins.
  TextPlace place_of(TextPlace inside) const;

 private:
  TextPlace begin_;
  Lines file_lines_;                     ///< of the file
  std::vector<std::size_t> text_lines_;  ///< likewise of the text
  std::vector<std::size_t> offsets_;     ///< in the file, of each byte of the text; empty: it cannot be followed
};

}  // namespace slipway::nvidia::config
