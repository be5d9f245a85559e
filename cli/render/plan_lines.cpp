// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "cli/render/text.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kFewest = 3;  ///< that are combined
constexpr std::size_t kNamed = 4;

/// The part of a line about one thing that can be combined with others.
struct Told {
  std::string verb;
  std::string folder;  ///< empty when it has none
  std::string name;
  const char* things;
};

/// Empty when the item needs its own line.
std::optional<Told> told_of(const PlannedItem& item) {
  const std::string& text = item.check.summary;
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return std::nullopt;
  const std::string kind = item.action.kind();
  Told told{text.substr(0, space), {}, text.substr(space + 1), "modules"};
  if (kind == "kernel-module" && told.verb == "load")
    return told.name == item.action.target() ? std::optional(told) : std::nullopt;
  const bool link = told.verb == "link" && !told.name.ends_with(")");  // a link that replaces another one says so
  if (!link && !(kind == "device-node" && told.verb == "create")) return std::nullopt;
  const std::string path = told.name.substr(0, told.name.find(' '));
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  told.folder = path.substr(0, slash);
  told.name = path.substr(slash + 1);
  told.things = link ? "names" : "device nodes";
  return told;
}

bool together(const PlannedItem& one, const Told& told, const PlannedItem& other) {
  const auto next = told_of(other);
  return next && next->verb == told.verb && next->folder == told.folder && next->things == std::string(told.things) &&
         one.check.standing == other.check.standing && one.removal == other.removal &&
         one.action.value("because") == other.action.value("because");
}

std::string text_of(const std::vector<PlannedItem>& items, std::size_t from, std::size_t count, const Told& told) {
  std::string text = told.verb + " " + std::to_string(count) + " " + told.things;
  if (!told.folder.empty()) text += " in " + told.folder;
  const std::size_t named = count <= kNamed + 1 ? count : kNamed;  // never "and 1 more"
  for (std::size_t i = 0; i < named; ++i) text += (i == 0 ? ": " : ", ") + told_of(items[from + i])->name;
  return named == count ? text : text + " and " + std::to_string(count - named) + " more";
}

}  // namespace

std::vector<PlanLine> plan_lines(const std::vector<PlannedItem>& items, bool each) {
  std::vector<PlanLine> lines;
  for (std::size_t at = 0; at < items.size();) {
    const auto told = each ? std::nullopt : told_of(items[at]);
    std::size_t count = 1;
    while (told && at + count < items.size() && together(items[at], *told, items[at + count])) ++count;
    if (count >= kFewest) {
      lines.push_back({&items[at], text_of(items, at, count, *told)});
    } else {
      for (std::size_t i = at; i < at + count; ++i) lines.push_back({&items[i], items[i].check.summary});
    }
    at += count;
  }
  return lines;
}

}  // namespace slipway::core
