// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/command_line.hpp>
#include <slipway/text.hpp>
#include <slipway/text/display.hpp>

namespace slipway {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kWidestName = 34;

std::string folded_behind(const std::string& text, std::size_t indent) { return folded(text, kWidth, indent, indent); }

std::string paragraphs(const std::string& text) {
  std::string all;
  for (const std::string& paragraph : lines_of(text)) all += folded_behind(paragraph, 0);
  return all;
}

/// "-o, --output FILE"
std::string left_column(const CommandOption& option) {
  std::string text = option.name.size() == 1 ? "-" + option.name : "--" + option.name;
  if (option.letter != 0) text = std::string{'-', option.letter} + ", " + text;
  return text + (option.value.empty() || may_lack_value(option) ? "" : " ") + option.value;
}

}  // namespace

std::string options_text(const std::vector<CommandOption>& options) {
  std::size_t width = 0;
  for (const CommandOption& option : options)
    if (!option.help.empty()) width = std::max(width, width_of(left_column(option)));
  width = std::min(width, kWidestName);
  std::string text;
  for (const CommandOption& option : options) {
    if (option.help.empty()) continue;
    std::string left = left_column(option);
    left = width_of(left) > width ? left + "\n" + std::string(width + 2, ' ') : padded(left, width);
    text += "  " + left + "  " + folded_behind(option.help + (option.repeats ? "; may be repeated" : ""), width + 4);
  }
  return text;
}

std::string help_text(const CommandTable& table) {
  std::string text = "Usage: " + table.call + (table.usage.empty() ? "" : " " + table.usage) + "\n\n";
  text += paragraphs(table.about);
  if (!table.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : table.examples) text += "  " + example + "\n";
  const std::string options = options_text(table.options);
  if (!options.empty()) text += "\nOptions:\n" + options;
  return table.notes.empty() ? text : text + "\n" + paragraphs(table.notes);
}

}  // namespace slipway
