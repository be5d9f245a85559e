// SPDX-License-Identifier: Apache-2.0
#include "core/action/file/text_diff.hpp"

#include <algorithm>
#include <vector>

#include <slipway/text.hpp>

namespace slipway::core {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t kContext = 3;
/// Beyond this many differing lines the search ends, and the whole middle is shown as replaced.
constexpr int kSearchDepth = 600;

/// One line of the result: ' ' kept, '-' removed, '+' new.
struct Step {
  char mark;
  std::size_t before;  ///< index in the old text (for '+': the line it is inserted before)
  std::size_t after;   ///< index in the new text (for '-': the line it was before)
};

std::vector<Step> replace_all(std::size_t before, std::size_t after) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < before; ++i) steps.push_back({'-', i, 0});
  for (std::size_t i = 0; i < after; ++i) steps.push_back({'+', before, i});
  return steps;
}

/// Walks back from the end through the frontiers that shortest_edit() recorded.
std::vector<Step> walk_back(const std::vector<std::vector<int>>& trace, int n, int m, int offset) {
  std::vector<Step> steps;
  int x = n;
  int y = m;
  for (int depth = static_cast<int>(trace.size()) - 1; depth >= 0; --depth) {
    const auto& reach = trace[static_cast<std::size_t>(depth)];
    const auto at = [&](int k) { return reach[static_cast<std::size_t>(k + offset)]; };
    const int k = x - y;
    const bool down = k == -depth || (k != depth && at(k - 1) < at(k + 1));
    const int from_k = down ? k + 1 : k - 1;
    const int from_x = depth == 0 ? 0 : at(from_k);
    const int from_y = depth == 0 ? 0 : from_x - from_k;
    while (x > from_x && y > from_y) {
      --x, --y;
      steps.push_back({' ', static_cast<std::size_t>(x), static_cast<std::size_t>(y)});
    }
    if (depth == 0) break;
    down ? --y : --x;
    steps.push_back({down ? '+' : '-', static_cast<std::size_t>(x), static_cast<std::size_t>(y)});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

/// Myers' greedy search for a shortest edit script.
std::vector<Step> shortest_edit(const Lines& before, const Lines& after) {
  const int n = static_cast<int>(before.size());
  const int m = static_cast<int>(after.size());
  const int deepest = std::min(n + m, kSearchDepth);
  const int offset = deepest + 1;
  std::vector<int> reach(static_cast<std::size_t>(2 * offset + 1), 0);
  const auto at = [&](int k) -> int& { return reach[static_cast<std::size_t>(k + offset)]; };
  std::vector<std::vector<int>> trace;
  for (int depth = 0; depth <= deepest; ++depth) {
    trace.push_back(reach);
    for (int k = -depth; k <= depth; k += 2) {
      int x = k == -depth || (k != depth && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(x - k)]) ++x;
      at(k) = x;
      if (x >= n && x - k >= m) return walk_back(trace, n, m, offset);
    }
  }
  return replace_all(before.size(), after.size());
}

std::vector<Step> edit_script(Lines before, Lines after) {
  std::size_t head = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < before.size() - head && tail < after.size() - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  const auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head), lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  std::vector<Step> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({' ', i, i});
  for (Step step : shortest_edit(middle(before), middle(after)))
    steps.push_back({step.mark, step.before + head, step.after + head});
  for (std::size_t i = tail; i > 0; --i) steps.push_back({' ', before.size() - i, after.size() - i});
  return steps;
}

std::string range(std::size_t start, std::size_t count) {
  const std::string first = std::to_string(count == 0 ? start : start + 1);
  return count == 1 ? first : first + "," + std::to_string(count);
}

/// Returns the end of the hunk that starts at `begin`: the first place with more than twice the context unchanged.
std::size_t hunk_end(const std::vector<Step>& steps, std::size_t begin) {
  std::size_t last_change = begin;
  for (std::size_t i = begin; i < steps.size() && i <= last_change + 2 * kContext; ++i)
    if (steps[i].mark != ' ') last_change = i;
  return std::min(steps.size(), last_change + kContext + 1);
}

void add_hunk(std::vector<std::string>& made, const std::vector<Step>& steps, std::size_t begin, std::size_t end,
              const Lines& before, const Lines& after) {
  std::size_t olds = 0;
  std::size_t news = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (steps[i].mark != '+') ++olds;
    if (steps[i].mark != '-') ++news;
  }
  made.push_back("@@ -" + range(steps[begin].before, olds) + " +" + range(steps[begin].after, news) + " @@\n");
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view line = steps[i].mark == '+' ? after[steps[i].after] : before[steps[i].before];
    made.push_back(steps[i].mark + std::string(line));
    if (!line.ends_with('\n')) made.emplace_back("\n\\ No newline at end of file\n");
  }
}

}  // namespace

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after,
                         std::size_t max_lines) {
  const bool text = before.find('\0') == std::string_view::npos && after.find('\0') == std::string_view::npos;
  if (before == after || !text) return {};
  const Lines olds = lines_with_ends(before);
  const Lines news = lines_with_ends(after);
  const std::vector<Step> steps = edit_script(olds, news);
  std::vector<std::string> lines{"--- " + std::string(path) + "\n", "+++ " + std::string(path) + " (planned)\n"};
  for (std::size_t i = 0; i < steps.size();) {
    if (steps[i].mark == ' ') {
      ++i;
      continue;
    }
    const std::size_t end = hunk_end(steps, i);
    add_hunk(lines, steps, i > kContext ? i - kContext : 0, end, olds, news);
    i = end;
  }
  std::string diff;
  for (std::size_t i = 0; i < lines.size() && i < max_lines; ++i) diff += lines[i];
  if (lines.size() > max_lines) diff += "… " + std::to_string(lines.size() - max_lines) + " more lines\n";
  return diff;
}

}  // namespace slipway::core
