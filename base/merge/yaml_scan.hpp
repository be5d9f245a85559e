// SPDX-License-Identifier: Apache-2.0
// base/merge/yaml_scan.hpp - where things end in YAML text that is known to be valid.
#pragma once

#include <cstddef>
#include <string>

namespace slipway::merge {

constexpr std::size_t kNowhere = std::string::npos;

class YamlScan {
 public:
  explicit YamlScan(const std::string& bytes) : bytes_(bytes) {}

  std::size_t line_begin(std::size_t at) const;
  /// The newline or the end of the text; a carriage return counts as part of the newline.
  std::size_t line_stop(std::size_t at) const;
  /// Past the newline, or the end of the text.
  std::size_t next_line(std::size_t at) const;
  std::size_t column(std::size_t at) const { return at - line_begin(at); }
  std::size_t skip_spaces(std::size_t at) const;
  /// From here to the end of the line there is nothing but blanks and a comment.
  bool rest_is_empty(std::size_t at) const;

  /// Past a quoted scalar that begins here.
  std::size_t quoted_end(std::size_t at) const;
  /// Past a key that begins here, quoted or plain; kNowhere when no colon follows it.
  std::size_t key_end(std::size_t at, bool flow) const;
  /// Past a plain scalar that reads as `text`; kNowhere when it cannot be made out.
  std::size_t plain_end(std::size_t at, const std::string& text, bool flow) const;
  /// Past the bracket that closes the one here.
  std::size_t flow_end(std::size_t at) const;
  /// Past the last line of a block value that begins here and belongs to a key in column `indent`.
  std::size_t block_end(std::size_t at, std::size_t indent) const;

 private:
  std::size_t trimmed(std::size_t begin, std::size_t end) const;
  std::size_t plain_stop(std::size_t begin, bool flow) const;
  const std::string& bytes_;
};

}  // namespace slipway::merge
