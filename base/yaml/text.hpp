// SPDX-License-Identifier: Apache-2.0
// base/yaml/text.hpp - the lines of a YAML text: positions in characters, bytes that YAML does not allow, and
// explanations of errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml/tree.hpp"

namespace slipway::base {

/// A byte that no YAML text may contain, with the reason.
struct BadByte {
  std::size_t offset = 0;
  std::string why;
};

/// The lines of a text, without their line ends. Borrows the text.
class TextLines {
 public:
  explicit TextLines(std::string_view text);

  /// Returns a line counted from 0; empty beyond the last.
  std::string_view line(std::size_t number) const;
  std::size_t count() const { return lines_.size(); }
  std::string_view text() const { return text_; }
  /// Converts yaml-cpp's line and byte column, both counted from 0.
  Position position(int line, int byte_column) const;
  Position position_of(std::size_t offset) const;
  /// Returns the offset of a line and byte column in the text; the text's size when beyond it.
  std::size_t offset(int line, int byte_column) const;

 private:
  std::string_view text_;
  std::vector<std::string_view> lines_;
};

/// Returns the first byte that is not UTF-8 or is a control character other than tab and line ends.
std::optional<BadByte> find_bad_byte(std::string_view text);

/// Returns the spaces and tabs at the start of a line.
std::string_view indentation(std::string_view line);

struct YamlComplaint {
  Position position;
  std::string what;
  std::string next;
};

/// @param message      yaml-cpp's own message
/// @param line,column  the place where it stopped, counted from 0, the column in bytes
YamlComplaint explain_yaml_error(const TextLines& lines, const std::string& message, int line, int column);

/// Returns the complaint about a block line that is indented with a tab.
YamlComplaint tab_complaint(const TextLines& lines, int line);

}  // namespace slipway::base
