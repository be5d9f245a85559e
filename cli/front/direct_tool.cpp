// SPDX-License-Identifier: Apache-2.0
#include "cli/front/direct_tool.hpp"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "cli/front/handover.hpp"

namespace slipway::cli {
namespace {

constexpr std::string_view kProgramPrefix = "slipway-";

bool is_for_slipway(const std::string& word) {
  return word.starts_with("-v") || word == "--verbose" || word.starts_with("--verbose=") || word == "--sim" ||
         word.starts_with("--sim=") || word == "--log-format" || word.starts_with("--log-format=");
}

std::vector<std::string> after(const std::vector<std::string>& words, std::ptrdiff_t count) {
  return {words.begin() + count, words.end()};
}

/// Removes the text up to and including the mark, and returns the part before it.
std::string_view cut(std::string_view& text, std::string_view mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(std::min(end + mark.size(), text.size()));
  return first;
}

/// Returns the value of a key, "key: ", in the component's document of the manifest.
std::string_view value_of(std::string_view manifest, std::string_view component, std::string_view key) {
  bool named = false;
  std::string_view value;
  while (!manifest.empty()) {
    const std::string_view line = cut(manifest, "\n");
    if (line.starts_with("---")) {
      named = false;
      value = {};
    }
    if (line.starts_with(key)) value = line.substr(key.size());
    if (line.starts_with("component: ")) named = line.substr(11) == component;
    if (named && !value.empty()) return value;
  }
  return {};
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
  while (!manifest.empty()) {
    const std::string_view line = cut(manifest, "\n");
    if (line.starts_with("component: ") && line.substr(11) == component) return true;
  }
  return false;
}

bool has_direct_tools(std::string_view manifest, std::string_view component) {
  return value_of(manifest, component, "direct_tools: ") == "true";
}

std::string tool_program(std::string_view manifest, std::string_view component, std::string_view tool) {
  std::string_view map = value_of(manifest, component, "tool_programs: ");
  if (!map.starts_with('{') || !map.ends_with('}')) return {};
  map = map.substr(1, map.size() - 2);
  while (!map.empty()) {
    const std::string_view entry = cut(map, ", ");
    const auto colon = entry.find(": ");
    if (entry.substr(0, colon) != tool || colon == std::string_view::npos) continue;
    std::string program(entry.substr(colon + 2));
    return is_component_name(program) && program.starts_with(kProgramPrefix) ? program : std::string();
  }
  return {};
}

Error become(const std::string& program, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return system_error("start", program, errno);
}

}  // namespace slipway::cli
