// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>

#include <slipway/http/metrics.hpp>

namespace slipway {
namespace {

/// A backslash before `special` letters and backslashes; a line break as \n.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\\' || special.find(letter) != std::string_view::npos) result += '\\';
    if (letter == '\n')
      result += "\\n";
    else
      result += letter;
  }
  return result;
}

}  // namespace

void MetricsText::begin(std::string_view name, std::string_view help, std::string_view type) {
  name_ = name;
  text_ += "# HELP " + name_ + " " + escaped(help, "") + "\n# TYPE " + name_ + " " + std::string(type) + "\n";
}

std::string MetricsText::rendered(const Labels& labels) {
  std::string list;
  for (const auto& [label, what] : labels)
    list.append(list.empty() ? "{" : ",").append(label).append("=\"").append(escaped(what, "\"")).append("\"");
  return list.empty() ? list : list + "}";
}

void MetricsText::sample_rendered(std::string_view labels, std::string_view value) {
  text_.append(name_).append(labels).append(" ").append(value).append("\n");
}

std::string MetricsText::real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

}  // namespace slipway
