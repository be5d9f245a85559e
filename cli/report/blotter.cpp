// SPDX-License-Identifier: Apache-2.0
#include "cli/report/blotter.hpp"

#include <algorithm>
#include <vector>

#include <slipway/text.hpp>

namespace slipway::core {
namespace {

constexpr std::size_t kShortest = 6;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// "p%40ss" as it is written elsewhere.
std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    plain += coded ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (coded) i += 2;
  }
  return plain;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

void Blotter::learn_secret(std::string_view secret) {
  const auto keep = [this](std::string_view text) {
    if (text.size() >= kShortest && text.find(kBlot) == std::string_view::npos) secrets_.emplace(text);
  };
  const auto keep_with_password = [&](std::string_view text) {
    keep(text);
    if (const auto colon = text.find(':'); colon != std::string_view::npos) keep(text.substr(colon + 1));
  };
  keep_with_password(secret);
  keep_with_password(percent_decoded(secret));
  const auto plain = base64_decoded(secret.substr(0, secret.find('=')));
  if (plain && is_printable(*plain)) keep_with_password(*plain);
}

void Blotter::learn_json(const Json& value) {
  if (value.is_string()) return learn(value.get_ref<const std::string&>());
  if (value.is_array())
    for (const Json& member : value) learn_json(member);
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    if (member.is_string() && is_secret_name(key))
      learn_secret(member.get_ref<const std::string&>());
    else
      learn_json(member);
  }
}

void Blotter::learn(std::string_view text) {
  const Json value = parse_foreign(text);
  if (value.is_structured()) return learn_json(value);
  for (const SecretSpan& span : find_secrets(text)) learn_secret(text.substr(span.begin, span.end - span.begin));
}

std::string Blotter::blot_text(std::string text) const {
  std::vector<std::string_view> longest_first(secrets_.begin(), secrets_.end());
  std::ranges::stable_sort(longest_first, std::ranges::greater{}, &std::string_view::size);
  for (const std::string_view secret : longest_first)
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += kBlot.size())
      text.replace(at, secret.size(), kBlot);
  const std::vector<SecretSpan> spans = find_secrets(text);
  for (std::size_t i = spans.size(); i-- > 0;) text.replace(spans[i].begin, spans[i].end - spans[i].begin, kBlot);
  return text;
}

namespace {

/// All of it stands under the name of a secret.
Json blotted(const Json& value) {
  if (value.is_object() || value.is_array()) {
    Json copy = value;
    for (Json& member : copy) member = blotted(member);
    return copy;
  }
  if (value.is_string() && value.get_ref<const std::string&>().empty()) return value;
  return value.is_null() || value.is_boolean() ? value : Json(std::string(Blotter::kBlot));
}

}  // namespace

Json Blotter::blot_json(const Json& value) const {
  if (value.is_string()) return blot_text(value.get<std::string>());
  if (value.is_array()) {
    Json copy = Json::array();
    for (const Json& member : value) copy.push_back(blot_json(member));
    return copy;
  }
  if (!value.is_object()) return value;
  Json copy = Json::object();
  for (const auto& [key, member] : value.items())
    copy[blot_text(key)] = is_secret_name(key) ? blotted(member) : blot_json(member);
  return copy;
}

std::string Blotter::blot(std::string_view text) const {
  const Json value = parse_foreign(text);
  return value.is_structured() ? pretty(blot_json(value)) : blot_text(std::string(text));
}

}  // namespace slipway::core
