// SPDX-License-Identifier: Apache-2.0
// Chooses the form of the metrics that a client prefers (RFC 9110, 12.5.1), when there are two.
#include <algorithm>
#include <string>

#include "base/http/http_listener.hpp"

namespace slipway::base {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// Returns "q=0.75" in thousandths; 1000 when it is missing or invalid.
unsigned weight_of(std::string_view parameter) {
  constexpr unsigned kAll = 1000;
  if (!parameter.starts_with("q=") || parameter.size() < 3) return kAll;
  if (parameter[2] != '0') return kAll;
  unsigned weight = 0;
  unsigned digit_worth = 100;
  for (const char digit : parameter.substr(std::min<std::size_t>(4, parameter.size()))) {
    if (digit < '0' || digit > '9') break;
    weight += static_cast<unsigned>(digit - '0') * digit_worth;
    digit_worth /= 10;
  }
  return weight;
}

}  // namespace

bool prefers_openmetrics(std::string_view accept) {
  unsigned openmetrics = 0;
  unsigned text = 0;
  while (!accept.empty()) {
    std::string_view range = accept.substr(0, accept.find(','));
    accept.remove_prefix(std::min(range.size() + 1, accept.size()));
    const std::string_view type = trimmed(range.substr(0, range.find(';')));
    unsigned weight = 1000;
    while (range.find(';') != std::string_view::npos) {
      range.remove_prefix(range.find(';') + 1);
      const std::string_view parameter = trimmed(range.substr(0, range.find(';')));
      if (parameter.starts_with("q=")) weight = weight_of(parameter);
      // Another version than the one that this program writes counts as an unsupported type.
      const bool of_text = type == "text/plain";
      if (parameter.starts_with("version=") && parameter != (of_text ? "version=0.0.4" : "version=1.0.0")) weight = 0;
    }
    if (type == "application/openmetrics-text") openmetrics = std::max(openmetrics, weight);
    if (type == "text/plain" || type == "text/*" || type == "*/*") text = std::max(text, weight);
  }
  return openmetrics > 0 && openmetrics >= text;
}

}  // namespace slipway::base
