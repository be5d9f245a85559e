// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/scalar_source.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace slipway::nvidia::config {
namespace {

constexpr auto kNone = std::string_view::npos;

/// Reads a scalar as YAML does, and records the origin of each byte.
class ScalarReader {
 public:
  explicit ScalarReader(std::string_view file, std::size_t at) : file_(file), at_(at) {}

  void run() {
    if (at_ >= file_.size()) return;
    const char first = file_[at_];
    if (first == '|' || first == '>')
      block(first == '>');
    else if (first == '"' || first == '\'')
      quoted(first);
  }

  std::string text;
  std::vector<std::size_t> offsets;

 private:
  void put(std::string_view bytes, std::size_t from) {
    text += bytes;
    offsets.insert(offsets.end(), bytes.size(), from);
  }

  std::size_t end_of_line(std::size_t at) const { return std::min(file_.find('\n', at), file_.size()); }

  /// Reads a literal or folded block, indented as its first non-empty line.
  void block(bool folded) {
    std::size_t indent = kNone;
    std::size_t empty = 0;  // number of empty lines so far
    bool any = false;
    bool before_is_deeper = false;
    for (std::size_t line = end_of_line(at_) + 1; line < file_.size(); line = end_of_line(line) + 1) {
      std::string_view content = file_.substr(line, end_of_line(line) - line);
      if (content.ends_with('\r')) content.remove_suffix(1);
      const std::size_t width = std::min(content.find_first_not_of(' '), content.size());
      if (width == content.size() && (indent == kNone || width <= indent)) {
        ++empty;
        continue;
      }
      if (indent == kNone) indent = width;
      if (width < indent) break;
      const std::string_view rest = content.substr(indent);
      const bool deeper = rest.front() == ' ' || rest.front() == '\t';
      const bool breaks = !folded || deeper || before_is_deeper;
      if (any && (breaks || empty == 0)) put(breaks ? "\n" : " ", line - 1);
      for (; empty > 0; --empty) put("\n", line - 1);
      for (std::size_t i = 0; i < rest.size(); ++i) put(rest.substr(i, 1), line + indent + i);
      any = true;
      before_is_deeper = deeper;
    }
  }

  void quoted(char quote) {
    for (++at_; at_ < file_.size();) {
      const char letter = file_[at_];
      if (quote == '\'' && file_.substr(at_, 2) == "''") {
        put("'", at_);
        at_ += 2;
      } else if (letter == quote) {
        return;
      } else if (quote == '"' && letter == '\\') {
        escape();
      } else if (letter == '\n') {
        fold();
      } else {
        put(file_.substr(at_, 1), at_);
        ++at_;
      }
    }
  }

  /// Folds a line break: blanks around it are dropped, a single break becomes a blank, and of several all but one stay.
  void fold() {
    while (!text.empty() && text.size() > kept_ && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
      text.pop_back();
      offsets.pop_back();
    }
    std::size_t breaks = 0;
    const std::size_t first = at_;
    for (; at_ < file_.size() && std::string_view(" \t\r\n").find(file_[at_]) != kNone; ++at_)
      breaks += file_[at_] == '\n' ? std::size_t{1} : 0;
    if (breaks == 1) put(" ", first);
    for (std::size_t i = 1; i < breaks; ++i) put("\n", first);
  }

  void escape() {
    const std::size_t from = at_++;
    const char letter = at_ < file_.size() ? file_[at_] : '\0';
    ++at_;
    if (letter == '\n') {  // the line continues without a blank
      at_ = std::min(file_.find_first_not_of(" \t", at_), file_.size());
      return;
    }
    constexpr std::string_view kLetters = "0abtnvfre \"/\\";
    constexpr std::string_view kBytes("\0\a\b\t\n\v\f\r\x1b \"/\\", 13);
    if (const std::size_t known = kLetters.find(letter); known != kNone)
      put(kBytes.substr(known, 1), from);
    else if (letter == 'x' || letter == 'u' || letter == 'U')
      code_point(letter == 'x' ? 2 : letter == 'u' ? 4 : 8, from);
    kept_ = text.size();
  }

  void code_point(std::size_t digits, std::size_t from) {
    std::uint32_t code = 0;
    for (const char digit : file_.substr(std::min(at_, file_.size()), digits))
      code = code << 4U | static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    at_ += digits;
    const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
    std::string bytes;
    if (code < 0x80)
      bytes = {byte(code)};
    else if (code < 0x800)
      bytes = {byte(0xc0U | code >> 6U), byte(0x80U | (code & 0x3fU))};
    else if (code < 0x10000)
      bytes = {byte(0xe0U | code >> 12U), byte(0x80U | (code >> 6U & 0x3fU)), byte(0x80U | (code & 0x3fU))};
    else
      bytes = {byte(0xf0U | (code >> 18U & 7U)), byte(0x80U | (code >> 12U & 0x3fU)),
               byte(0x80U | (code >> 6U & 0x3fU)), byte(0x80U | (code & 0x3fU))};
    put(bytes, from);
  }

  std::string_view file_;
  std::size_t at_;
  std::size_t kept_ = 0;  ///< blanks before this offset come from an escape
};

std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t at = text.find('\n'); at != kNone; at = text.find('\n', at + 1)) starts.push_back(at + 1);
  return starts;
}

/// Behind the last line: the end of the text.
std::size_t offset_of(const std::vector<std::size_t>& lines, TextPlace place) {
  return place.line <= lines.size() ? lines[place.line - 1] + place.column - 1 : kNone;
}

std::string_view without_last_breaks(std::string_view text) { return text.substr(0, text.find_last_not_of('\n') + 1); }

}  // namespace

Lines lines_in(std::string_view text) { return std::make_shared<const std::vector<std::size_t>>(line_starts(text)); }

ScalarSource::ScalarSource(std::string_view file, Lines lines, TextPlace begin, std::string_view text)
    : begin_(begin), file_lines_(std::move(lines)), text_lines_(line_starts(text)) {
  ScalarReader follower(file, std::min(offset_of(*file_lines_, begin), file.size()));
  follower.run();
  // The number of final line breaks in a block does not matter here.
  if (without_last_breaks(follower.text) == without_last_breaks(text)) offsets_ = std::move(follower.offsets);
}

TextPlace ScalarSource::place_of(TextPlace inside) const {
  if (offsets_.empty()) return begin_;
  const std::size_t offset = offset_of(text_lines_, inside);
  const std::size_t in_file = offset < offsets_.size() ? offsets_[offset] : offsets_.back() + 1;
  const auto behind = std::ranges::upper_bound(*file_lines_, in_file);
  return {static_cast<std::size_t>(behind - file_lines_->begin()), in_file - *std::prev(behind) + 1};
}

}  // namespace slipway::nvidia::config
