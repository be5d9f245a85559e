// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <slipway/text.hpp>

#include "base/yaml/text.hpp"

namespace slipway::base {
namespace {

/// The place where yaml-cpp stopped: the line, and the last line with content before it.
struct ErrorPlace {
  const TextLines& lines;
  int number;
  int column;
  std::string_view line;
  int previous_number = -1;
  std::string_view previous;
};

ErrorPlace look_at(const TextLines& lines, int number, int column) {
  ErrorPlace scene{lines, number, column, lines.line(static_cast<std::size_t>(std::max(number, 0))), -1, {}};
  for (int above = std::min(number, static_cast<int>(lines.count())) - 1; above >= 0; --above) {
    const std::string_view text = trimmed(lines.line(static_cast<std::size_t>(above)));
    if (text.empty() || text.starts_with("#")) continue;
    scene.previous_number = above;
    scene.previous = lines.line(static_cast<std::size_t>(above));
    break;
  }
  return scene;
}

std::string line_name(int number) { return "line " + std::to_string(number + 1); }

std::string spaces(std::size_t count) {
  return count == 0 ? "not at all" : "by " + std::to_string(count) + (count == 1 ? " space" : " spaces");
}

YamlComplaint at_mark(const ErrorPlace& scene, std::string what, std::string next) {
  return {scene.lines.position(scene.number, scene.column), std::move(what), std::move(next)};
}

YamlComplaint at_text(const ErrorPlace& scene, int number, std::string what, std::string next) {
  const auto width = indentation(scene.lines.line(static_cast<std::size_t>(number))).size();
  return {scene.lines.position(number, static_cast<int>(width)), std::move(what), std::move(next)};
}

/// Returns the last unclosed bracket in a text.
std::optional<std::size_t> open_bracket(std::string_view before) {
  int closed = 0;
  for (std::size_t at = before.size(); at-- > 0;) {
    if (before[at] == ']' || before[at] == '}') ++closed;
    if ((before[at] == '[' || before[at] == '{') && closed-- == 0) return at;
  }
  return std::nullopt;
}

YamlComplaint open_bracket_complaint(const ErrorPlace& scene) {
  const std::string_view text = scene.lines.text();
  const bool at_end = scene.number <= 0 && scene.column <= 0;  // yaml-cpp's mark at the end of the text
  const auto bracket = open_bracket(at_end ? text : text.substr(0, scene.lines.offset(scene.number, scene.column)));
  if (!bracket) return at_mark(scene, "a list or map in brackets is never closed", "close it with ']' or '}'");
  const std::string open(1, text[*bracket]);
  const std::string close = open == "[" ? "]" : "}";
  return {scene.lines.position_of(*bracket),
          "the '" + open + "' here is not closed" + (at_end ? "" : " before " + line_name(scene.number)),
          "add the missing '" + close + "' or ','"};
}

YamlComplaint unknown_token(const ErrorPlace& scene) {
  const auto column = static_cast<std::size_t>(std::max(scene.column, 0));
  const std::string found = column < scene.line.size() ? std::string(1, scene.line[column]) : "this character";
  return at_mark(scene, "a value cannot begin with '" + found + "'", "put the value in quotes");
}

bool has_key(std::string_view line) {
  return line.find(": ") != std::string_view::npos || trimmed(line).ends_with(":");
}

/// True for "key:value", which YAML reads as one word. False for a URL or a time.
bool lacks_space_after_colon(std::string_view line) {
  const std::size_t colon = line.find(':');
  return !has_key(line) && colon != std::string_view::npos && line.substr(colon, 3) != "://";
}

bool opens_with_key_and_value(std::string_view line) {
  const std::size_t colon = line.find(": ");
  return colon != std::string_view::npos && !trimmed(line.substr(colon + 1)).empty();
}

std::optional<YamlComplaint> wrong_on_this_line(const ErrorPlace& scene) {
  const auto column = static_cast<std::size_t>(std::max(scene.column, 0));
  const std::string_view before = trimmed(scene.line.substr(0, std::min(column, scene.line.size())));
  if (!before.empty() && (before.back() == '"' || before.back() == '\''))
    return at_mark(scene, "there is text after the closing quote",
                   "put the whole value in one pair of quotes (a ' inside '…' is written '')");
  if (before.find(": ") != std::string_view::npos && column < scene.line.size() && scene.line[column] == ':')
    return at_mark(scene, "a second ': ' in one value", "put the value in quotes, or give each key a line of its own");
  return std::nullopt;
}

YamlComplaint wrong_indentation(const ErrorPlace& scene) {
  const std::size_t here = indentation(scene.line).size();
  const std::size_t above = indentation(scene.previous).size();
  const std::string head = "the indentation of this line fits no line above it: ";
  const std::string tail =
      "this one is indented " + spaces(here) + ", " + line_name(scene.previous_number) + " " + spaces(above);
  if (here > above && opens_with_key_and_value(scene.previous))
    return at_text(scene, scene.number,
                   "this line is indented deeper than " + line_name(scene.previous_number) +
                       ", but that line has a value already: " + tail,
                   "indent all keys of one level by the same number of spaces");
  return at_text(scene, scene.number, head + tail, "indent all keys of one level by the same number of spaces");
}

YamlComplaint structure_complaint(const ErrorPlace& scene, const std::string& message) {
  if (const auto complaint = wrong_on_this_line(scene)) return *complaint;
  if (scene.previous_number >= 0) {
    if (lacks_space_after_colon(scene.previous))
      return at_text(scene, scene.previous_number, "there is no space after the colon",
                     "write 'key: value', with a space after the colon");
    const bool same_depth = indentation(scene.line).size() == indentation(scene.previous).size();
    const bool item = trimmed(scene.line).starts_with("-");
    if (item && same_depth)
      return at_text(scene, scene.number, "a list item ('- …') is in the place of a key",
                     "indent the list below the key that it belongs to");
    if (same_depth && !has_key(scene.previous) && !trimmed(scene.previous).starts_with("-"))
      return at_text(scene, scene.previous_number, "this line is not a 'key: value'",
                     "add ': ' and a value, or remove it");
    if (!same_depth) return wrong_indentation(scene);
  }
  return at_mark(scene, "this cannot be read as YAML (" + message + ")", "check indentation, quotes and colons here");
}

}  // namespace

YamlComplaint tab_complaint(const TextLines& lines, int line) {
  const std::size_t tab = lines.line(static_cast<std::size_t>(line)).find('\t');
  return {lines.position(line, static_cast<int>(tab)), "a tab is used for indentation, which YAML does not allow",
          "replace the tab by spaces"};
}

YamlComplaint explain_yaml_error(const TextLines& lines, const std::string& message, int line, int column) {
  const ErrorPlace scene = look_at(lines, line, column);
  const auto says = [&](std::string_view part) { return message.find(part) != std::string::npos; };
  if (indentation(scene.line).find('\t') != std::string_view::npos) return tab_complaint(lines, line);
  if (says("flow not found")) return open_bracket_complaint(scene);
  if (says("unknown token")) return unknown_token(scene);
  if (says("unknown escape"))
    return at_mark(scene, "unknown escape '\\" + message.substr(message.size() - 1) + "' inside double quotes",
                   "write \\\\ for a backslash, or use single quotes");
  if (says("anchor is not defined"))
    return at_mark(scene, "an alias (*name) has no anchor (&name) before it",
                   "define the anchor first; a value that begins with * must be quoted");
  if (says("illegal flow end"))
    return at_mark(scene, "this bracket has no opening bracket", "remove this bracket, or add the opening one");
  if (says("illegal block entry"))
    return at_mark(scene, "'- ' begins a list item only at the start of a line",
                   "put each item on a line of its own, or write [a, b]");
  if (says("map value") || says("map not found") || says("sequence not found"))
    return structure_complaint(scene, message);
  if (says("deep recursion") || says("too deep"))
    return at_mark(scene, "lists and maps are nested too deep", "a spec needs a few levels only");
  return at_mark(scene, "this cannot be read as YAML (" + message + ")", "check indentation, quotes and colons here");
}

}  // namespace slipway::base
