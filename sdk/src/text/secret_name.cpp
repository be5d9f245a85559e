// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>

#include <slipway/text/secret_name.hpp>

namespace slipway {
namespace {

bool is_part_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// Matches whole words: "_auth" in "registry_auth", not "auth" in "oauth".
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

bool is_empty_value(const Json& value) {
  return value.is_null() || value.is_boolean() || value.empty() || value == Json("");
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  if (name == "PWD" || name == "OLDPWD") return false;  // folders of a shell
  const std::string small = in_small_letters(name);
  // Keys with another meaning are words of a spec in small letters; environment variables have capitals.
  const bool is_variable = !name.empty() && small != name &&
                           std::ranges::none_of(name, [](unsigned char c) { return std::islower(c) != 0; });
  return is_part_of(small,
                    {"password",  "passwd",       "passphrase",    "secret",        "token",       "credential",
                     "apikey",    "api_key",      "api-key",       "private_key",   "privatekey",  "private-key",
                     "accesskey", "access_key",   "access-key",    "authorization", "cookie",      "amz-signature",
                     "key-data",  "key_data",     "keydata",       "accountkey",    "account_key", "account-key",
                     "sharedkey", "presharedkey", "preshared_key", "preshared-key", "hmac_key",    "hmac-key",
                     "hmackey"}) ||
         has_last_word(small,
                       {"auth", "pass", "pwd", "sig", "psk", "hmac", "community", "rocommunity", "rwcommunity"}) ||
         (is_variable && has_last_word(small, {"key"}));
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

bool is_secret_option(std::string_view word) {
  return word.starts_with('-') && word.find_first_of("= \t\n") == std::string_view::npos && is_secret_name(word);
}

bool is_key_of_a_name(std::string_view key) {
  const std::string small = in_small_letters(key);
  return small == "name" || small == "key";
}

bool is_key_of_a_value(std::string_view key) { return in_small_letters(key) == "value"; }

bool names_a_secret(const Json& object) {
  if (!object.is_object()) return false;
  for (const auto& [key, member] : object.items())
    if (member.is_string() && is_key_of_a_name(key) && is_secret_name(member.get_ref<const std::string&>()))
      return true;
  return false;
}

bool has_secret(const Json& value) {
  bool after_option = false;
  if (value.is_array())
    for (const Json& member : value) {
      if (has_secret(member) || (after_option && !is_empty_value(member))) return true;
      after_option = member.is_string() && is_secret_option(member.get_ref<const std::string&>());
    }
  if (!value.is_object()) return false;
  const bool named = names_a_secret(value);
  for (const auto& [key, member] : value.items()) {
    const bool is_secret = is_secret_name(key) || (named && is_key_of_a_value(key));
    if (is_secret && !is_reference(member) && !is_empty_value(member)) return true;
    if (has_secret(member)) return true;
  }
  return false;
}

}  // namespace slipway
