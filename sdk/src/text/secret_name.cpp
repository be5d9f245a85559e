// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>

#include <slipway/command/secret_name.hpp>

namespace slipway {
namespace {

bool is_part_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// As a word of its own: "_auth" of "registry_auth", not "auth" of "oauth".
bool has_last_word(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    if (!text.ends_with(word)) return false;
    return text.size() == word.size() ||
           std::string_view("_-.").find(text[text.size() - word.size() - 1]) != std::string_view::npos;
  });
}

bool is_reference(const Json& value) {
  return value.is_object() && value.size() == 1 && (value.contains("file") || value.contains("env"));
}

}  // namespace

bool is_secret_name(std::string_view name) {
  if (name == "PWD" || name == "OLDPWD") return false;  // folders of a shell
  std::string small(name);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // Keys that name something else are words of a spec in small letters; variables of the environment are in large ones.
  const bool is_variable = !name.empty() && small != name &&
                           std::ranges::none_of(name, [](unsigned char c) { return std::islower(c) != 0; });
  return is_part_of(small, {"password",  "passwd",     "passphrase", "secret",        "token",      "credential",
                            "apikey",    "api_key",    "api-key",    "private_key",   "privatekey", "private-key",
                            "accesskey", "access_key", "access-key", "authorization", "cookie",     "amz-signature",
                            "key-data",  "key_data",   "keydata"}) ||
         has_last_word(small, {"auth", "pass", "pwd", "sig"}) || (is_variable && has_last_word(small, {"key"}));
}

bool is_secret_key(std::string_view key) {
  if (key.ends_with(".file") || key.ends_with(".env")) return false;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    if (is_secret_name(key.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool has_secret(const Json& value) {
  if (value.is_array()) return std::ranges::any_of(value, has_secret);
  if (!value.is_object()) return false;
  for (const auto& [key, member] : value.items()) {
    const bool says_nothing = member.is_null() || member.is_boolean() || member.empty() || member == Json("");
    if (is_secret_name(key) && !is_reference(member) && !says_nothing) return true;
    if (has_secret(member)) return true;
  }
  return false;
}

}  // namespace slipway
