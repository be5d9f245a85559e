// SPDX-License-Identifier: Apache-2.0
// Searches by hand: a regular expression of the standard library recurses for each character.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "sandbox/build_room.hpp"

namespace slipway::sandbox {
namespace {

constexpr std::size_t kLinesAfter = 8;
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_of(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

/// Removes ":12" at the end. Returns false if not found.
bool drop_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size() || !is_of(text.substr(colon + 1), kDigits))
    return false;
  text = text.substr(0, colon);
  return true;
}

/// True for "gcc", "x86-64-linux-gnu-gcc-12", "cc1plus".
bool is_compiler(std::string_view name) {
  if (name == "cc1" || name == "cc1plus") return true;
  const std::size_t cc = name.rfind("cc");
  return cc != std::string_view::npos && is_of(name.substr(cc + 2), "0123456789.-") &&
         is_of(name.substr(0, cc), "abcdefghijklmnopqrstuvwxyz0123456789-");
}

/// True for "FILE:LINE:COLUMN: error: …", "gcc: fatal error: …".
bool is_compilers(std::string_view line) {
  if (line.empty()) return false;
  for (const std::string_view mark : {": error: ", ": fatal error: "})
    for (std::size_t at = line.find(mark); at != std::string_view::npos; at = line.find(mark, at + 1)) {
      std::string_view before = line.substr(0, at);
      if (is_compiler(before)) return true;
      if (line.front() != ' ' && drop_number(before) && !before.empty()) return true;
    }
  return false;
}

/// True for "ld: …", "/usr/bin/ld.bfd: …", after any path.
bool is_linker_line(std::string_view line) {
  for (std::size_t at = line.find(": "); at != std::string_view::npos; at = line.find(": ", at + 1)) {
    const std::string_view before = line.substr(0, at);
    const std::string_view name = before.substr(before.rfind('/') + 1);
    if (name == "ld" || (name.starts_with("ld.") && name.size() > 3 && is_of(name.substr(3), kLetters))) return true;
  }
  return false;
}

bool is_linkers(std::string_view line) {
  return has(line, "undefined reference to ") || has(line, "multiple definition of ") || has(line, "collect2: error") ||
         line.starts_with("ERROR: modpost: ") || is_linker_line(line);
}

/// True for "make[2]: *** …", "sh: x: not found".
bool is_makes(std::string_view line) {
  for (const std::string_view end : {": not found", ": command not found", ": No such file or directory"})
    if (line.ends_with(end)) return true;
  const std::size_t mark = line.find(": *** ");
  if (mark == std::string_view::npos) return false;
  std::string_view name = line.substr(0, mark);
  if (const std::size_t level = name.find('['); level != std::string_view::npos && name.ends_with(']')) {
    if (!is_of(name.substr(level + 1, name.size() - level - 2), kDigits)) return false;
    name = name.substr(0, level);
  }
  return name == "make" || name == "gmake";
}

/// The kinds of error lines, the best first: a compiler's line is more specific than make's.
constexpr std::array kKinds{is_compilers, is_linkers, is_makes};

std::string without_folder(std::string text, const std::string& folder) {
  if (folder.empty()) return text;
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
    text.erase(at, folder.size());
  return text;
}

/// Returns the line that begins there, without its line end.
std::string_view line_at(std::string_view log, std::size_t begin) {
  return log.substr(begin, log.find('\n', begin) - begin);
}

std::string_view line_before(std::string_view log, std::size_t begin) {
  if (begin == 0) return {};
  const std::size_t end = log.rfind('\n', begin - 1);
  const std::size_t before = end == 0 ? std::string_view::npos : log.rfind('\n', end - 1);
  return log.substr(before + 1, end - before - 1);
}

std::string shown(std::string_view line) { return std::string(line.substr(0, kLogLineBytes)); }

bool belongs_to_error(std::string_view line) {
  return !line.empty() && !line.starts_with("make[") && !line.starts_with("make:") && !has(line, ": warning: ") &&
         !has(line, ": error: ") && !has(line, ": fatal error: ");
}

std::string context_of(std::string_view log, std::size_t begin) {
  const std::string_view before = line_before(log, begin);
  std::string_view line = line_at(log, begin);
  std::string context = shown(line);
  if (before.size() <= kLogLineBytes && (has(before, ": In ") || before.ends_with(": At top level:")))
    context = shown(before) + "\n" + context;
  for (std::size_t i = 0; i < kLinesAfter; ++i) {
    begin += line.size() + 1;
    if (begin >= log.size()) break;
    line = line_at(log, begin);
    if (!belongs_to_error(shown(line))) break;
    context += "\n" + shown(line);
  }
  return context;
}

/// Returns the start of the first line of the best kind.
std::size_t find_error(std::string_view log) {
  std::array<std::size_t, kKinds.size()> first;
  first.fill(std::string_view::npos);
  for (std::size_t begin = 0; begin < log.size() && first.front() == std::string_view::npos;) {
    const std::string_view line = line_at(log, begin);
    for (std::size_t kind = 0; kind < kKinds.size() && line.size() <= kLogLineBytes; ++kind)
      if (first[kind] == std::string_view::npos && kKinds[kind](line)) first[kind] = begin;
    begin += line.size() + 1;
  }
  const auto found = std::find_if(first.begin(), first.end(), [](auto at) { return at != std::string_view::npos; });
  return found == first.end() ? std::string_view::npos : *found;
}

bool memory_ran_out(std::string_view log) {
  return has(log, "Killed signal terminated program") || has(log, "virtual memory exhausted") ||
         has(log, "Cannot allocate memory");
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

/// True for words that Kbuild prints before the file that it makes; NVIDIA's makefiles add the last one for their
/// checks of the kernel.
bool is_kbuild_verb(std::string_view word) {
  constexpr std::array<std::string_view, 6> kVerbs{"CC", "LD", "AS", "AR", "MODPOST", "CONFTEST:"};
  return std::find(kVerbs.begin(), kVerbs.end(), word) != kVerbs.end();
}

bool is_source(std::string_view word) {
  constexpr std::array<std::string_view, 5> kEndings{".c", ".cc", ".cpp", ".cxx", ".S"};
  return !word.starts_with('-') && !word.starts_with('=') &&
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return word.size() > ending.size() && word.ends_with(ending); });
}

}  // namespace

std::string compiled_file(const std::string& line, const std::string& folder) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 2) return {};
  if (line.front() == ' ' && is_kbuild_verb(words.front())) return without_folder(std::string(words.back()), folder);
  if (std::find(words.begin(), words.end(), "-c") == words.end()) return {};
  const auto source = std::find_if(words.rbegin(), words.rend(), is_source);
  return source == words.rend() ? std::string() : without_folder(std::string(*source), folder);
}

std::optional<BuildProblem> find_problem(const std::string& log, const std::string& folder) {
  BuildProblem problem;
  if (has(log, "No space left on device")) problem.code = ErrorCode::no_space;
  if (memory_ran_out(log)) problem.code = ErrorCode::io;
  if (const std::size_t begin = find_error(log); begin != std::string_view::npos) {
    problem.line = without_folder(shown(line_at(log, begin)), folder);
    problem.context = without_folder(context_of(log, begin), folder);
    return problem;
  }
  if (problem.code == ErrorCode::build_failed) return std::nullopt;
  problem.line = problem.code == ErrorCode::no_space ? "No space left on device" : "not enough memory";
  return problem;
}

}  // namespace slipway::sandbox
