// SPDX-License-Identifier: Apache-2.0
#include "core/loader/schema/pattern.hpp"

#include <regex>

namespace slipway::core {
namespace {

constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kLongestPattern = 500;

}  // namespace

std::string pattern_mismatch(const std::string& text, const std::string& pattern) {
  if (text.size() > kLongestText) return "is too long (more than " + std::to_string(kLongestText) + " bytes)";
  try {
    if (std::regex_match(text, std::regex(pattern))) return {};
  } catch (const std::regex_error&) {
    return "is too complicated for the pattern " + pattern;  // the matcher's own limit
  }
  return "does not fit the pattern " + pattern;
}

std::string pattern_problem(const std::string& pattern) {
  if (pattern.size() > kLongestPattern) return "is longer than " + std::to_string(kLongestPattern) + " bytes";
  try {
    const std::regex compiled(pattern);
    return {};
  } catch (const std::regex_error& problem) {
    return std::string("is no regular expression: ") + problem.what();
  }
}

}  // namespace slipway::core
