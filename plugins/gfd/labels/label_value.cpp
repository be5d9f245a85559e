// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/label_value.hpp"

#include <algorithm>

#include <slipway/text.hpp>

namespace slipway::gfd {
namespace {

bool alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool allowed(char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

/// A value begins and ends with a letter or digit.
std::string_view without_marks_around(std::string_view text) {
  while (!text.empty() && !alphanumeric(text.front())) text.remove_prefix(1);
  while (!text.empty() && !alphanumeric(text.back())) text.remove_suffix(1);
  return text;
}

bool dns_subdomain(std::string_view text) {
  constexpr std::size_t kMaxSubdomain = 253;
  const auto lower = [](char c) { return alphanumeric(c) && (c < 'A' || c > 'Z'); };
  if (text.empty() || text.size() > kMaxSubdomain || !lower(text.front()) || !lower(text.back())) return false;
  return std::ranges::all_of(text, [&lower](char c) { return lower(c) || c == '-' || c == '.'; });
}

}  // namespace

std::string sanitised(std::string_view text) {
  std::string out;
  bool gap = false;
  for (const char c : text) {
    if (c == ' ') gap = true;
    if (!allowed(c)) continue;
    if (gap && !out.empty()) out += '-';
    gap = false;
    out += c;
  }
  return out;
}

bool valid_value(std::string_view value) {
  if (value.empty()) return true;
  return value.size() <= kMaxValue && alphanumeric(value.front()) && alphanumeric(value.back()) &&
         std::ranges::all_of(value, allowed);
}

bool valid_key(std::string_view key) {
  const auto slash = key.find('/');
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  if (slash != std::string_view::npos && !dns_subdomain(key.substr(0, slash))) return false;
  return !name.empty() && valid_value(name);
}

std::string fitted(const std::string& name, const std::string& endings) {
  std::string_view front = without_marks_around(name);
  if (endings.size() < kMaxValue && front.size() + endings.size() > kMaxValue)
    front = without_marks_around(front.substr(0, kMaxValue - endings.size()));
  return std::string(front) + endings;
}

std::string drop_invalid(Labels& labels) {
  std::vector<std::string> dropped;
  std::erase_if(labels, [&dropped](const auto& label) {
    if (valid_key(label.first) && valid_value(label.second)) return false;
    dropped.push_back(label.first + "=" + label.second);
    return true;
  });
  return joined(dropped);
}

std::string to_lines(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += key + "=" + value + "\n";
  return text;
}

}  // namespace slipway::gfd
