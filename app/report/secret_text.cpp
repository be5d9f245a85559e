// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <utility>

#include "app/report/redactor.hpp"
#include "app/report/scanned_text.hpp"
#include "app/report/secret_forms.hpp"

namespace slipway::app {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

bool is_before_a_value(char c) { return c == '"' || c == '\'' || c == '\\' || c == ']'; }

class Finder {
 public:
  explicit Finder(std::string_view text) : text_(text) {}

  std::vector<SecretSpan> find() {
    private_keys();
    for (std::size_t begin = 0; begin < text_.size(); begin = next_line_) {
      const std::size_t end = text_.find("\n", begin, text_.size());
      line_ = begin;
      first_word_ = first_word(begin, end);
      next_line_ = end + 1;
      has_deeper_lines_ = false;
      named_values(begin, end);
      find_secret_forms(text_, begin, end, found_);
      if (named_lines_ > 0) --named_lines_;
    }
    return merged();
  }
  std::size_t looked_at() const { return text_.looked_at(); }

 private:
  void add(std::size_t begin, std::size_t end) {
    if (begin < end) found_.push_back({begin, end});
  }

  std::vector<SecretSpan> merged() {
    std::ranges::sort(found_, {}, &SecretSpan::begin);
    std::vector<SecretSpan> spans;
    for (const SecretSpan& span : found_) {
      if (!spans.empty() && span.begin <= spans.back().end)
        spans.back().end = std::max(spans.back().end, span.end);
      else
        spans.push_back(span);
    }
    return spans;
  }

  void private_keys() {
    constexpr std::string_view kBegin = "-----BEGIN ";
    constexpr std::string_view kDashes = "-----";
    const std::size_t all = text_.size();
    for (std::size_t at = 0; (at = text_.find(kBegin, at, all)) < all;) {
      at += kBegin.size();
      const std::size_t dashes = text_.find(kDashes, at, all);
      if (dashes == all) return;
      if (text_.part(at, dashes).find("PRIVATE KEY") == std::string_view::npos) continue;
      const std::size_t end = text_.find("-----END ", dashes, all);
      add(dashes + kDashes.size(), end);
      at = end;
    }
  }

  /// Finds `NAME: value`, `"NAME": "value"`, `NAME=value`, `--NAME value`, `"--NAME", "value"`, `name: NAME, value:
  /// value`.
  void named_values(std::size_t begin, std::size_t end) {
    std::string_view before;
    for (std::size_t at = begin; at < end;) {
      const std::size_t after = text_.first_that_is_not(is_name_character, at, end);
      if (after == at) {
        ++at;
        continue;
      }
      const std::string_view name = text_.part(at, after);
      if (is_secret_name(name)) {
        if (!value_of(at, after, end) && is_key_of_a_name(before)) named_lines_ = 2;
      } else if (named_lines_ > 0 && is_key_of_a_value(name)) {
        (void)value_of(at, after, end);
      }
      before = name;
      at = after;
    }
  }

  /// @return true when there is something that may be a value
  bool value_of(std::size_t name, std::size_t after, std::size_t end) {
    const bool is_option = text_[name] == '-';
    const std::size_t at = text_.first_that_is_not(is_before_a_value, after, end);
    const std::size_t sign = text_.skip_blanks(at, end);
    const bool has_comma = is_option && at > after && sign < end && text_[sign] == ',';
    const bool has_sign = (sign < end && (text_[sign] == ':' || text_[sign] == '=')) || has_comma;
    if (!has_sign && !(is_option && sign > at)) return false;
    const std::size_t value = text_.skip_blanks(has_sign ? sign + 1 : sign, end);
    if (value >= end) {
      if (!has_comma) deeper_lines(end);
      return true;
    }
    const std::size_t quote = text_.part(value, std::min(value + 2, end)) == "\\\"" ? value + 1 : value;
    if (text_[quote] == '"' || text_[quote] == '\'') {
      add(quote + 1, closing_quote(quote, end, quote > value));
      return true;
    }
    const bool one_word = !has_sign || (text_[sign] == '=' && value == sign + 1 && name != first_word_);
    const std::size_t stop = one_word ? text_.end_of_word(value, end) : end;
    add(value, stop);
    if (std::string_view("|>").find(text_[value]) != std::string_view::npos ||
        std::string_view("[{").find(text_[stop - 1]) != std::string_view::npos)
      deeper_lines(end);
    return true;
  }

  std::size_t first_word(std::size_t line, std::size_t end) {
    const std::size_t at = text_.skip_blanks(line, end);
    constexpr std::string_view kExport = "export ";
    return text_.part(at, std::min(at + kExport.size(), end)) == kExport ? at + kExport.size() : at;
  }

  /// @param escaped  the quotes are escaped, as in a text inside a quoted text: \"
  std::size_t closing_quote(std::size_t quote, std::size_t end, bool escaped) {
    if (!escaped && text_[quote] == '\'') return text_.find("'", quote + 1, end);
    for (std::size_t at = quote + 1; (at = text_.first_of("\"\\", at, end)) < end;) {
      if (text_[at] == '"' && !escaped) return at;
      if (text_[at] == '\\' && escaped && at + 1 < end && text_[at + 1] == '"') return at;
      at = std::min(at + (text_[at] == '\\' ? 2 : 1), end);
    }
    return end;
  }

  /// Adds the lines below that are indented more: a block of YAML, or a list. Once for each line.
  void deeper_lines(std::size_t end) {
    if (std::exchange(has_deeper_lines_, true)) return;
    const std::size_t indent = indent_of(line_);
    std::size_t at = end + 1;
    std::size_t last = at;
    while (at < text_.size()) {
      const std::size_t stop = text_.find("\n", at, text_.size());
      const bool blank = text_.skip_blanks(at, stop) == stop;
      if (!blank && indent_of(at) <= indent) break;
      last = stop;
      at = stop + 1;
    }
    add(end + 1, std::min(last, text_.size()));
    next_line_ = std::max(next_line_, at);  // all of them are removed, so they are not searched
  }

  std::size_t indent_of(std::size_t line) { return text_.first_not_of(" \t", line, text_.size()) - line; }

  ScannedText text_;
  std::vector<SecretSpan> found_;
  std::size_t line_ = 0;
  std::size_t first_word_ = 0;
  std::size_t next_line_ = 0;
  bool has_deeper_lines_ = false;
  unsigned named_lines_ =
      0;  ///< number of lines, including this one, that may contain the value of the last named secret
};

}  // namespace

std::vector<SecretSpan> find_secrets(std::string_view text, std::size_t* looked_at) {
  Finder finder(text);
  auto spans = finder.find();
  if (looked_at != nullptr) *looked_at = finder.looked_at();
  return spans;
}

}  // namespace slipway::app
