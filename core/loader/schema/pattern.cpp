// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <regex>

#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kLongestPattern = 500;

/// Caches compiled patterns: compiling takes longer than matching, and a schema's patterns are used again and again.
const std::regex& compiled(const std::string& pattern) {
  thread_local std::map<std::string, std::regex> known;
  constexpr std::size_t kMost = 256;  // all plugins together have a few dozen
  if (known.size() > kMost) known.clear();
  const auto found = known.find(pattern);
  return found != known.end() ? found->second : known.emplace(pattern, std::regex(pattern)).first->second;
}

}  // namespace

std::string pattern_mismatch(const std::string& text, const std::string& pattern) {
  if (text.size() > kLongestText) return "is too long (more than " + std::to_string(kLongestText) + " bytes)";
  try {
    if (std::regex_match(text, compiled(pattern))) return {};
  } catch (const std::regex_error&) {
    return "is too complicated for the pattern " + pattern;  // the matcher's own limit
  }
  return "does not fit the pattern " + pattern;
}

std::string pattern_problem(const std::string& pattern) {
  if (pattern.size() > kLongestPattern) return "is longer than " + std::to_string(kLongestPattern) + " bytes";
  try {
    (void)compiled(pattern);
    return {};
  } catch (const std::regex_error& problem) {
    return std::string("is not a regular expression: ") + problem.what();
  }
}

}  // namespace slipway::core
