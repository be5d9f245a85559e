// SPDX-License-Identifier: Apache-2.0
// base/merge/yaml_scan.hpp - finds the ends of things in valid YAML text.
#pragma once

#include <cstddef>
#include <string>

namespace slipway::merge {

constexpr std::size_t kNowhere = std::string::npos;

class YamlScan {
 public:
  explicit YamlScan(const std::string& bytes) : bytes_(bytes) {}

  std::size_t line_begin(std::size_t at) const;
  /// Returns the offset of the newline or of the end of the text; a carriage return is part of the newline.
  std::size_t line_stop(std::size_t at) const;
  /// Returns the offset after the newline, or the end of the text.
  std::size_t next_line(std::size_t at) const;
  std::size_t column(std::size_t at) const { return at - line_begin(at); }
  std::size_t skip_spaces(std::size_t at) const;
  /// True when the rest of the line has only blanks and a comment.
  bool rest_is_empty(std::size_t at) const;

  /// Returns the offset after a quoted scalar that begins here.
  std::size_t quoted_end(std::size_t at) const;
  /// Returns the offset after a key that begins here, quoted or plain; kNowhere when no colon follows it.
  std::size_t key_end(std::size_t at, bool flow) const;
  /// Returns the offset after a plain scalar that reads as `text`; kNowhere when it cannot be determined.
  std::size_t plain_end(std::size_t at, const std::string& text, bool flow) const;
  /// Returns the offset after the bracket that closes the one here.
  std::size_t flow_end(std::size_t at) const;
  /// Returns the offset after the last line of a block value that begins here and belongs to a key in column `indent`.
  std::size_t block_end(std::size_t at, std::size_t indent) const;

 private:
  std::size_t trimmed(std::size_t begin, std::size_t end) const;
  std::size_t plain_stop(std::size_t begin, bool flow) const;
  const std::string& bytes_;
};

}  // namespace slipway::merge
