// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "cli/report/blotter.hpp"

namespace slipway::core {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kEndOfWord = " \t\r\n\"'`<>";

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

bool is_token_character(char c) { return is_name_character(c) || c == '+' || c == '/' || c == '=' || c == '~'; }

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

class Finder {
 public:
  explicit Finder(std::string_view text) : text_(text) {}

  std::vector<SecretSpan> find() {
    private_keys();
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      next_line_ = end + 1;
      named_values(begin, end);
      urls(begin, end);
      logins(begin, end);
      tokens(begin, end);
      begin = next_line_;
    }
    return merged();
  }

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
    constexpr std::string_view kPrivate = "PRIVATE KEY";
    constexpr std::string_view kEnd = "-----END ";
    for (std::size_t at = 0; (at = text_.find(kBegin, at)) != kNone;) {
      at += kBegin.size();
      const std::size_t dashes = text_.find("-----", at);
      if (dashes == kNone) return;
      if (text_.substr(at, dashes - at).find(kPrivate) == kNone) continue;
      const std::size_t end = std::min(text_.find(kEnd, dashes), text_.size());
      add(dashes + 5, end);
      at = end;
    }
  }

  std::size_t skip_blanks(std::size_t at, std::size_t end) const {
    return std::min(text_.find_first_not_of(kBlanks, at), end);
  }

  /// `NAME: value`, `"NAME": "value"`, `NAME=value`, `--NAME value`.
  void named_values(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
      if (!is_name_character(text_[at])) {
        ++at;
        continue;
      }
      std::size_t after = at;
      while (after < end && is_name_character(text_[after])) ++after;
      if (is_secret_name(text_.substr(at, after - at))) value_of(begin, at, after, end);
      at = after;
    }
  }

  void value_of(std::size_t line, std::size_t name, std::size_t after, std::size_t end) {
    const bool is_option = text_[name] == '-';
    std::size_t at = after;
    while (at < end && (text_[at] == '"' || text_[at] == '\'' || text_[at] == '\\' || text_[at] == ']')) ++at;
    const std::size_t sign = skip_blanks(at, end);
    const bool has_sign = sign < end && (text_[sign] == ':' || text_[sign] == '=');
    if (!has_sign && !(is_option && sign > at)) return;
    const std::size_t value = skip_blanks(has_sign ? sign + 1 : sign, end);
    if (value >= end) return deeper_lines(line, end);
    const std::size_t quote = text_.substr(value, 2) == "\\\"" ? value + 1 : value;
    if (text_[quote] == '"' || text_[quote] == '\'') return add(quote + 1, closing_quote(quote, end, quote > value));
    const bool one_word = !has_sign || (text_[sign] == '=' && value == sign + 1 && name != first_word(line));
    const std::size_t stop = one_word ? std::min(text_.find_first_of(kEndOfWord, value), end) : end;
    add(value, stop);
    if (std::string_view("|>").find(text_[value]) != kNone || std::string_view("[{").find(text_[stop - 1]) != kNone)
      deeper_lines(line, end);
  }

  std::size_t first_word(std::size_t line) const {
    const std::size_t at = text_.find_first_not_of(kBlanks, line);
    constexpr std::string_view kExport = "export ";
    return at != kNone && text_.substr(at, kExport.size()) == kExport ? at + kExport.size() : at;
  }

  /// @param escaped  the quotes are those of a text inside a quoted text: \"
  std::size_t closing_quote(std::size_t quote, std::size_t end, bool escaped) const {
    for (std::size_t at = quote + 1; at < end; ++at) {
      if (text_[at] == '\\' && escaped && at + 1 < end && text_[at + 1] == '"') return at;
      if (text_[at] == '\\' && text_[quote] == '"')
        ++at;
      else if (text_[at] == text_[quote] && !escaped)
        return at;
    }
    return end;
  }

  /// The lines below that are indented more: a block of YAML, or a list.
  void deeper_lines(std::size_t line, std::size_t end) {
    if (next_line_ > end + 1) return;  // by another name of this line
    const std::size_t indent = indent_of(line);
    std::size_t at = end + 1;
    std::size_t last = at;
    while (at < text_.size()) {
      const std::size_t stop = std::min(text_.find('\n', at), text_.size());
      const bool blank = skip_blanks(at, stop) == stop;
      if (!blank && indent_of(at) <= indent) break;
      last = stop;
      at = stop + 1;
    }
    add(end + 1, std::min(last, text_.size()));
    next_line_ = std::max(next_line_, at);  // all of them are blotted out, so none is looked at for itself
  }

  std::size_t indent_of(std::size_t line) const {
    return std::min(text_.find_first_not_of(" \t", line), text_.size()) - line;
  }

  /// SCHEME://USER:PASSWORD@HOST
  void urls(std::size_t begin, std::size_t end) {
    const std::string_view line = text_.substr(0, end);  // never searched past its end
    for (std::size_t at = begin; (at = line.find("://", at)) < end; at += 3) {
      const std::size_t host = at + 3;
      const std::size_t stop = std::min({line.find_first_of("/?#", host), line.find_first_of(kEndOfWord, host), end});
      const std::size_t sign = text_.substr(host, stop - host).rfind('@');
      if (sign != kNone) add(host, host + sign);
    }
  }

  /// USER:PASSWORD@HOST without a scheme, as proxies have it; not NAME:TAG@sha256:DIGEST.
  void logins(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
      const std::size_t stop = std::min(text_.find_first_of(kEndOfWord, at), end);
      std::size_t sign = text_.substr(at, stop - at).rfind('@');
      const std::size_t colon = text_.substr(at, std::min(sign, stop - at)).find(':');
      if (sign != kNone && colon != kNone && colon > 0 && colon + 1 < sign && at + sign + 1 < stop) {
        const std::string_view password = text_.substr(at + colon + 1, sign - colon - 1);
        const std::string_view host = text_.substr(at + sign + 1, stop - at - sign - 1);
        if (!host.starts_with("sha256:") && !host.starts_with("sha512:") && password.find('/') == kNone)
          add(at, at + sign);
      }
      at = stop + 1;
    }
  }

  /// By the letters that those who give them out begin them with.
  static bool is_known_token(std::string_view word) {
    constexpr std::size_t kLettersBehind = 8;
    constexpr std::string_view kBeginnings[] = {
        "nvapi-", "ghp_",  "gho_",  "ghu_",  "ghs_",    "ghr_",     "github_pat_", "glpat-",    "AKIA",
        "ASIA",   "xoxa-", "xoxb-", "xoxp-", "xoxr-",   "xoxs-",    "xapp-",       "dckr_pat_", "hf_",
        "npm_",   "pypi-", "AIza",  "ya29.", "sk-ant-", "sk-proj-", "hvs.",        "dop_v1_"};
    return std::ranges::any_of(kBeginnings, [&](std::string_view beginning) {
      return word.starts_with(beginning) && word.size() >= beginning.size() + kLettersBehind;
    });
  }

  /// The values of options that are passwords to known programs: `mysql -pPW`, `curl -u USER:PW`.
  void options(std::size_t at, std::size_t after, std::size_t end) {
    const std::string_view word = text_.substr(at, after - at);
    const std::string_view line = text_.substr(0, at);
    const std::size_t begin = line.rfind('\n') == kNone ? 0 : line.rfind('\n') + 1;
    const auto calls = [&](std::string_view program) { return text_.substr(begin, at - begin).find(program) != kNone; };
    if (word.starts_with("-p") && word.size() > 2 && (calls("mysql") || calls("mariadb") || calls("sshpass")))
      add(at + 2, std::min(text_.find_first_of(kEndOfWord, at), end));
    if ((word == "-u" || word == "--user") && (calls("curl") || calls("skopeo"))) {
      const std::size_t next = skip_blanks(after, end);
      const std::size_t stop = std::min(text_.find_first_of(kEndOfWord, next), end);
      const std::size_t colon = text_.substr(next, stop - next).find(':');
      if (colon != kNone) add(next + colon + 1, stop);
    }
  }

  /// `Bearer …`, `Basic …`, JSON web tokens, and those of known form.
  void tokens(std::size_t begin, std::size_t end) {
    constexpr std::size_t kShortestToken = 6;
    for (std::size_t at = begin; at < end;) {
      std::size_t after = at;
      while (after < end && is_token_character(text_[after])) ++after;
      const std::string_view word = text_.substr(at, after - at);
      if ((word.starts_with("eyJ") && std::ranges::count(word, '.') >= 2) || is_known_token(word)) add(at, after);
      if (word.starts_with('-')) options(at, after, end);
      const std::string small = word.size() == 5 || word.size() == 6 ? lower(word) : std::string();
      const std::size_t next = skip_blanks(after, end);
      if ((small == "bearer" || small == "basic") && next > after) {
        const std::size_t stop = std::min(text_.find_first_of(kEndOfWord, next), end);
        if (stop >= next + kShortestToken) add(next, stop);
      }
      at = std::max(after, at + 1);
    }
  }

  std::string_view text_;
  std::vector<SecretSpan> found_;
  std::size_t next_line_ = 0;
};

}  // namespace

std::vector<SecretSpan> find_secrets(std::string_view text) { return Finder(text).find(); }

}  // namespace slipway::core
