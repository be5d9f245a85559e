// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "artifact/registry/login/authorizer.hpp"

namespace slipway::artifact {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

void skip(std::string_view& text, std::string_view letters) {
  text.remove_prefix(std::min(text.find_first_not_of(letters), text.size()));
}

std::string take_until(std::string_view& text, std::string_view letters) {
  const std::size_t end = std::min(text.find_first_of(letters), text.size());
  std::string taken(text.substr(0, end));
  text.remove_prefix(end);
  return taken;
}

/// Reads a quoted string and resolves its escapes; `text` begins after the opening quote.
std::string take_quoted(std::string_view& text) {
  std::string value;
  while (!text.empty() && text.front() != '"') {
    if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
    value += text.front();
    text.remove_prefix(1);
  }
  if (!text.empty()) text.remove_prefix(1);
  return value;
}

}  // namespace

Challenge parse_challenge(const std::string& header) {
  std::string_view rest(header);
  skip(rest, " \t");
  Challenge challenge{.scheme = lower(take_until(rest, " \t")), .parameters = {}};
  while (true) {
    skip(rest, " \t,");
    if (rest.empty()) return challenge;
    const std::string name = lower(take_until(rest, "=, \t"));
    if (rest.empty() || rest.front() != '=') return challenge;  // the next scheme begins
    rest.remove_prefix(1);
    if (rest.starts_with('"')) {
      rest.remove_prefix(1);
      challenge.parameters[name] = take_quoted(rest);
    } else {
      challenge.parameters[name] = take_until(rest, ", \t");
    }
  }
}

}  // namespace slipway::artifact
