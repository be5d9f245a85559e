// SPDX-License-Identifier: Apache-2.0
#include "app/report/secret_forms.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

namespace slipway::app {
namespace {

bool is_token_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-.+/=~").find(c) != std::string_view::npos;
}

/// Recognizes tokens by the prefix that their issuer gives them.
bool is_known_token(std::string_view word) {
  constexpr std::size_t kLettersBehind = 8;
  constexpr std::string_view kBeginnings[] = {
      "nvapi-", "ghp_",  "gho_",  "ghu_",  "ghs_",    "ghr_",     "github_pat_", "glpat-",    "AKIA",
      "ASIA",   "xoxa-", "xoxb-", "xoxp-", "xoxr-",   "xoxs-",    "xapp-",       "dckr_pat_", "hf_",
      "npm_",   "pypi-", "AIza",  "ya29.", "sk-ant-", "sk-proj-", "hvs.",        "dop_v1_"};
  return std::ranges::any_of(kBeginnings, [&](std::string_view beginning) {
    return word.starts_with(beginning) && word.size() >= beginning.size() + kLettersBehind;
  });
}

std::string lower_of(std::string_view word) {
  std::string small(word);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

class LineForms {
 public:
  LineForms(ScannedText& text, std::size_t begin, std::size_t end, std::vector<SecretSpan>& found)
      : text_(text), begin_(begin), end_(end), found_(found) {}

  void find() {
    urls();
    hashes();
    hooks();
    logins();
    words();
  }

 private:
  void add(std::size_t begin, std::size_t end) {
    if (begin < end) found_.push_back({begin, end});
  }

  /// Finds "$6$SALT$HASH" (crypt(5)): passwords can be tried against it without limit.
  void hashes() {
    constexpr std::size_t kShortestHash = 24;
    constexpr std::string_view kKinds[] = {"$1$", "$2a$", "$2b$", "$2y$",   "$5$",
                                           "$6$", "$y$",  "$7$",  "$apr1$", "$argon2"};
    for (std::size_t at = begin_; (at = text_.find("$", at, end_)) < end_; ++at) {
      const bool is_hash = std::ranges::any_of(
          kKinds, [&](std::string_view kind) { return text_.part(at, std::min(at + kind.size(), end_)) == kind; });
      const std::size_t stop = is_hash ? text_.end_of_word(at, end_) : at;
      if (stop - at < kShortestHash) continue;
      add(at, stop);
      at = stop - 1;
    }
  }

  /// Finds SCHEME://USER:PASSWORD@HOST.
  void urls() {
    constexpr std::string_view kEndOfHost = "/?# \t\r\n\"'`<>";
    for (std::size_t at = begin_; (at = text_.find("://", at, end_)) < end_;) {
      at = std::min(at + 3, end_);
      const std::size_t stop = text_.first_of(kEndOfHost, at, end_);
      const std::size_t sign = text_.part(at, stop).rfind('@');
      if (sign != std::string_view::npos) add(at, at + sign);
    }
  }

  /// Finds URLs that let any caller post to a chat channel.
  void hooks() {
    for (const std::string_view host :
         {"hooks.slack.com", "discord.com/api/webhooks", "discordapp.com/api/webhooks", "webhook.office.com"}) {
      for (std::size_t at = begin_; (at = text_.find(host, at, end_)) < end_;) {
        at += host.size();
        if (at >= end_ || (text_[at] != '/' && text_[at] != '\\')) continue;
        const std::size_t stop = text_.end_of_word(at, end_);
        add(at + 1, stop);
        at = stop;
      }
    }
  }

  /// Finds USER:PASSWORD@HOST without a scheme, as in proxy settings; not NAME:TAG@sha256:DIGEST.
  void logins() {
    for (std::size_t at = begin_; at < end_;) {
      const std::size_t stop = text_.end_of_word(at, end_);
      const std::string_view word = text_.part(at, stop);
      const std::size_t sign = word.rfind('@');
      const std::size_t colon = word.substr(0, std::min(sign, word.size())).find(':');
      if (sign != std::string_view::npos && colon != std::string_view::npos && colon > 0 && colon + 1 < sign &&
          sign + 1 < word.size()) {
        const std::string_view host = word.substr(sign + 1);
        const bool has_folder = word.substr(colon + 1, sign - colon - 1).find('/') != std::string_view::npos;
        if (!host.starts_with("sha256:") && !host.starts_with("sha512:") && !has_folder) add(at, at + sign);
      }
      at = stop + 1;
    }
  }

  /// True when the program is named in this line before `at`. Looks for each program once.
  bool calls(std::string_view program, std::size_t at) {
    const auto [known, is_new] = named_at_.try_emplace(program, 0);
    if (is_new) known->second = text_.find(program, begin_, end_);
    return known->second + program.size() <= at;
  }

  /// Finds values of options that are passwords of known programs: `mysql -pPW`, `docker login -p PW`, `curl -u
  /// USER:PW`, `skopeo copy --src-creds USER:PW`, `snmpget -c NAME`.
  void option(std::size_t at, std::size_t after) {
    const std::string_view word = text_.part(at, after);
    if (word.starts_with("-p") && word.size() > 2 &&
        (calls("mysql", at) || calls("mariadb", at) || calls("sshpass", at)))
      add(at + 2, text_.end_of_word(at, end_));
    if (word == "-p" && (calls(" login", at) || calls("sshpass", at))) add_next_word(after, 1);
    if (((word == "-u" || word == "--user") && (calls("curl", at) || calls("skopeo", at))) || word.ends_with("creds")) {
      const std::size_t next = text_.skip_blanks(after, end_);
      const std::size_t stop = text_.end_of_word(next, end_);
      const std::size_t colon = text_.part(next, stop).find(':');
      if (colon != std::string_view::npos) add(next + colon + 1, stop);
    }
    if (word == "-c" && calls("snmp", at)) add_next_word(after, 1);
  }

  void add_next_word(std::size_t after, std::size_t shortest) {
    const std::size_t next = text_.skip_blanks(after, end_);
    if (next == after) return;
    const std::size_t stop = text_.end_of_word(next, end_);
    if (stop >= next + shortest) add(next, stop);
  }

  /// Finds `Bearer …`, `Basic …`, `rocommunity …` of snmpd.conf, JSON web tokens, and tokens of known form.
  void words() {
    constexpr std::size_t kShortestToken = 6;
    constexpr std::size_t kLongestName = 12;
    for (std::size_t at = begin_; at < end_;) {
      const std::size_t after = text_.first_that_is_not(is_token_character, at, end_);
      if (after == at) {
        ++at;
        continue;
      }
      const std::string_view word = text_.part(at, after);
      if ((word.starts_with("eyJ") && std::ranges::count(word, '.') >= 2) || is_known_token(word)) add(at, after);
      if (word.starts_with('-')) option(at, after);
      const std::string small = word.size() <= kLongestName ? lower_of(word) : std::string();
      if (small == "bearer" || small == "basic") add_next_word(after, kShortestToken);
      if (small == "rocommunity" || small == "rwcommunity" || small == "rocommunity6" || small == "rwcommunity6" ||
          (small == "community" && calls("snmp", at)))
        add_next_word(after, 1);
      at = after;
    }
  }

  ScannedText& text_;
  std::size_t begin_;
  std::size_t end_;
  std::vector<SecretSpan>& found_;
  std::map<std::string_view, std::size_t> named_at_;  ///< the first position of a program's name in the line
};

}  // namespace

void find_secret_forms(ScannedText& text, std::size_t begin, std::size_t end, std::vector<SecretSpan>& found) {
  LineForms(text, begin, end, found).find();
}

}  // namespace slipway::app
