// SPDX-License-Identifier: Apache-2.0
#include "core/front/direct_tool.hpp"

#include <algorithm>

namespace slipway::core {
namespace {

bool is_name(const std::string& word) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !word.empty() && word.front() >= 'a' && word.front() <= 'z' && std::ranges::all_of(word, fits);
}

bool is_for_slipway(const std::string& word) { return word == "-v" || word == "--sim" || word.starts_with("--sim="); }

std::vector<std::string> after(const std::vector<std::string>& words, std::ptrdiff_t count) {
  return {words.begin() + count, words.end()};
}

}  // namespace

std::vector<ToolWords> tool_words(const std::vector<std::string>& words) {
  if (words.size() < 2 || !is_name(words[0]) || !is_name(words[1])) return {};
  if (std::ranges::any_of(words, is_for_slipway)) return {};
  std::vector<ToolWords> ways{{words[0], words[0], after(words, 1)}};
  if (words.size() > 2) ways.push_back({words[0], words[1], after(words, 2)});
  return ways;
}

bool has_direct_tools(std::string_view manifest, std::string_view component) {
  bool named = false;
  bool direct = false;
  while (!manifest.empty()) {
    const std::size_t end = std::min(manifest.find('\n'), manifest.size());
    const std::string_view line = manifest.substr(0, end);
    manifest.remove_prefix(std::min(end + 1, manifest.size()));
    if (line.starts_with("---")) named = direct = false;
    if (line == "direct_tools: true") direct = true;
    if (line.starts_with("component: ")) named = line.substr(11) == component;
    if (named && direct) return true;
  }
  return false;
}

}  // namespace slipway::core
