// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "dcgm/names/name_sets.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::string_view kHelp = "# HELP ";
constexpr std::string_view kType = "# TYPE ";
constexpr std::string_view kTotal = "_total";

/// True for names that end in their base unit.
bool follows_conventions(std::string_view name) { return name.starts_with("nvidia_") || name.starts_with("slipway_"); }

std::string_view unit_of(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kUnits{"seconds", "bytes", "celsius", "watts",
                                                          "joules",  "hertz", "ratio"};
  if (!follows_conventions(name)) return {};
  const std::string_view last = name.substr(name.rfind('_') + 1);
  return std::ranges::find(kUnits, last) == kUnits.end() ? std::string_view() : last;
}

/// Escapes quotes in help texts; backslashes and line ends are escaped already.
void append_help(std::string& text, std::string_view help) {
  for (const char letter : help) {
    if (letter == '"') text += '\\';
    text += letter;
  }
}

void append_family(std::string& text, std::string_view help, std::string_view name, std::string_view type) {
  const bool counts = type == "counter" && name.ends_with(kTotal);
  if (counts) name.remove_suffix(kTotal.size());
  if (!counts && type != "gauge") type = "unknown";
  text.append(kHelp).append(name).append(" ");
  append_help(text, help);
  text.append("\n").append(kType).append(name).append(" ").append(type).append("\n");
  if (const std::string_view unit = unit_of(name); !unit.empty())
    text.append("# UNIT ").append(name).append(" ").append(unit).append("\n");
}

}  // namespace

std::string openmetrics_text(std::string_view page) {
  std::string text;
  text.reserve(page.size() + 4096);
  std::string_view help;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size() - 1);
    std::string_view line = page.substr(0, end);
    page.remove_prefix(end + 1);
    if (line.starts_with(kHelp)) {
      help = line.substr(std::min(line.size(), line.find(' ', kHelp.size()) + 1));
    } else if (line.starts_with(kType)) {
      line.remove_prefix(kType.size());
      const std::size_t blank = line.find(' ');
      append_family(text, help, line.substr(0, blank), line.substr(blank + 1));
    } else {
      text.append(line).append("\n");
    }
  }
  return text.append("# EOF\n");
}

}  // namespace slipway::dcgm
