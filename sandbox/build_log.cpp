// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "sandbox/build_room.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kLinesAfter = 8;

/// What an error line looks like, the best kind first: a compiler's tells more than make's.
const std::array<std::regex, 3>& kinds() {
  static const std::array<std::regex, 3> list{
      std::regex(
          R"(^[^ ].*:[0-9]+(:[0-9]+)?: (fatal )?error: |^cc1(plus)?: (fatal )?error: |^[a-z0-9-]*g?cc[0-9.-]*: (fatal )?error: )"),
      std::regex(
          R"(undefined reference to |^(.*/)?(ld|ld\.[a-z]+): |^ERROR: modpost: |^collect2: error|multiple definition of )"),
      std::regex(R"(^g?make(\[[0-9]+\])?: \*\*\* |: (not found|command not found|No such file or directory)$)")};
  return list;
}

std::string without_folder(std::string text, const std::string& folder) {
  if (folder.empty()) return text;
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
    text.erase(at, folder.size());
  return text;
}

bool belongs_to_error(const std::string& line) {
  if (line.empty() || line.find("make[") == 0 || line.find("make:") == 0) return false;
  static const std::regex next_message(R"(: (warning|error|fatal error): )");
  return !std::regex_search(line, next_message);
}

std::string context_of(const std::vector<std::string>& lines, std::size_t at) {
  const bool introduced =
      at > 0 && (lines[at - 1].find(": In ") != std::string::npos || lines[at - 1].ends_with(": At top level:"));
  std::string context = introduced ? lines[at - 1] + "\n" + lines[at] : lines[at];
  for (std::size_t i = at + 1; i < lines.size() && i <= at + kLinesAfter && belongs_to_error(lines[i]); ++i)
    context += "\n" + lines[i];
  return context;
}

/// Words that Kbuild prints before the file that it makes; NVIDIA's makefiles add the last for their checks of the
/// kernel.
bool is_kbuild_verb(const std::string& word) {
  static const std::set<std::string> verbs{"CC", "LD", "AS", "AR", "MODPOST", "CONFTEST:"};
  return verbs.contains(word);
}

bool is_source(const std::string& word) {
  static const std::regex name(R"([^-=].*\.(c|cc|cpp|cxx|S)$)");
  return std::regex_match(word, name);
}

}  // namespace

std::string compiled_file(const std::string& line, const std::string& folder) {
  std::istringstream in(line);
  const std::vector<std::string> words(std::istream_iterator<std::string>(in), {});
  if (words.size() < 2) return {};
  if (line.front() == ' ' && is_kbuild_verb(words.front())) return without_folder(words.back(), folder);
  if (std::find(words.begin(), words.end(), "-c") == words.end()) return {};
  const auto source = std::find_if(words.rbegin(), words.rend(), is_source);
  return source == words.rend() ? std::string() : without_folder(*source, folder);
}

std::optional<BuildProblem> find_problem(const std::string& log, const std::string& folder) {
  std::vector<std::string> lines;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  BuildProblem problem;
  if (log.find("No space left on device") != std::string::npos) problem.code = ErrorCode::no_space;
  static const std::regex killed(R"(Killed signal terminated program|virtual memory exhausted|Cannot allocate memory)");
  if (std::regex_search(log, killed)) problem.code = ErrorCode::io;
  for (const std::regex& kind : kinds())
    for (std::size_t i = 0; i < lines.size(); ++i) {
      // A line as long as a command echo is none of these, and regexes are slow on it.
      if (lines[i].size() > 4096 || !std::regex_search(lines[i], kind)) continue;
      problem.line = without_folder(lines[i], folder);
      problem.context = without_folder(context_of(lines, i), folder);
      return problem;
    }
  if (problem.code == ErrorCode::build_failed) return std::nullopt;
  problem.line = problem.code == ErrorCode::no_space ? "No space left on device" : "not enough memory";
  return problem;
}

}  // namespace slipway::core
