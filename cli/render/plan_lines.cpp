// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kFewest = 3;  ///< the smallest number of things that are combined
constexpr std::size_t kNamed = 4;

/// The part of a line about one thing that can be combined with others.
struct LineParts {
  std::string verb;
  std::string folder;  ///< empty when the thing is not in a folder
  std::string name;
  const char* things;
};

/// Empty when the item needs its own line.
std::optional<LineParts> line_parts_of(const core::PlannedItem& item) {
  const std::string& text = item.check.summary;
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return std::nullopt;
  const std::string kind = item.action.kind();
  LineParts parts{text.substr(0, space), {}, text.substr(space + 1), "modules"};
  if (kind == "kernel-module" && parts.verb == "load")
    return parts.name == item.action.target() ? std::optional(parts) : std::nullopt;
  const bool link = parts.verb == "link" && !parts.name.ends_with(")");  // a link that replaces another one says so
  if (!link && !(kind == "device-node" && parts.verb == "create")) return std::nullopt;
  const std::string path = parts.name.substr(0, parts.name.find(' '));
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  parts.folder = path.substr(0, slash);
  parts.name = path.substr(slash + 1);
  parts.things = link ? "names" : "device nodes";
  return parts;
}

bool together(const core::PlannedItem& one, const LineParts& parts, const core::PlannedItem& other) {
  const auto next = line_parts_of(other);
  return next && next->verb == parts.verb && next->folder == parts.folder &&
         next->things == std::string(parts.things) && one.check.standing == other.check.standing &&
         one.removal == other.removal && one.action.value("because") == other.action.value("because");
}

std::string text_of(const std::vector<core::PlannedItem>& items, std::size_t from, std::size_t count,
                    const LineParts& parts) {
  std::string text = parts.verb + " " + std::to_string(count) + " " + parts.things;
  if (!parts.folder.empty()) text += " in " + parts.folder;
  const std::size_t named = count <= kNamed + 1 ? count : kNamed;  // never "and 1 more"
  for (std::size_t i = 0; i < named; ++i) text += (i == 0 ? ": " : ", ") + line_parts_of(items[from + i])->name;
  return named == count ? text : text + " and " + std::to_string(count - named) + " more";
}

}  // namespace

std::vector<PlanLine> plan_lines(const std::vector<core::PlannedItem>& items, bool each) {
  std::vector<PlanLine> lines;
  for (std::size_t at = 0; at < items.size();) {
    const auto parts = each ? std::nullopt : line_parts_of(items[at]);
    std::size_t count = 1;
    while (parts && at + count < items.size() && together(items[at], *parts, items[at + count])) ++count;
    if (count >= kFewest) {
      lines.push_back({&items[at], text_of(items, at, count, *parts)});
    } else {
      for (std::size_t i = at; i < at + count; ++i) lines.push_back({&items[i], items[i].check.summary});
    }
    at += count;
  }
  return lines;
}

}  // namespace slipway::cli
