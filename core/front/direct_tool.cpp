// SPDX-License-Identifier: Apache-2.0
#include "core/front/direct_tool.hpp"

#include <algorithm>

namespace slipway::core {
namespace {

bool is_for_slipway(const std::string& word) { return word == "-v" || word == "--sim" || word.starts_with("--sim="); }

std::vector<std::string> after(const std::vector<std::string>& words, std::ptrdiff_t count) {
  return {words.begin() + count, words.end()};
}

/// Calls it with each line of a manifest.
template <class Each>
void each_line(std::string_view manifest, const Each& each) {
  while (!manifest.empty()) {
    const std::size_t end = std::min(manifest.find('\n'), manifest.size());
    each(manifest.substr(0, end));
    manifest.remove_prefix(std::min(end + 1, manifest.size()));
  }
}

}  // namespace

bool is_component_name(const std::string& word) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !word.empty() && word.front() >= 'a' && word.front() <= 'z' && std::ranges::all_of(word, fits);
}

std::vector<ToolWords> tool_words(const std::vector<std::string>& words) {
  if (words.size() < 2 || !is_component_name(words[0]) || !is_component_name(words[1])) return {};
  if (std::ranges::any_of(words, is_for_slipway)) return {};
  std::vector<ToolWords> ways{{words[0], words[0], after(words, 1)}};
  if (words.size() > 2) ways.push_back({words[0], words[1], after(words, 2)});
  return ways;
}

bool holds_component(std::string_view manifest, std::string_view component) {
  bool found = false;
  each_line(manifest, [&](std::string_view line) {
    found = found || (line.starts_with("component: ") && line.substr(11) == component);
  });
  return found;
}

bool has_direct_tools(std::string_view manifest, std::string_view component) {
  bool found = false;
  bool named = false;
  bool direct = false;
  each_line(manifest, [&](std::string_view line) {
    if (line.starts_with("---")) named = direct = false;
    if (line == "direct_tools: true") direct = true;
    if (line.starts_with("component: ")) named = line.substr(11) == component;
    found = found || (named && direct);
  });
  return found;
}

}  // namespace slipway::core
