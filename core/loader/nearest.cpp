// SPDX-License-Identifier: Apache-2.0
#include "core/loader/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace slipway::core {
namespace {

constexpr std::size_t kLongestWord = 100;  // longer ones are no typing mistakes, and the table is quadratic
constexpr std::size_t kFarthest = 3;

std::string lower(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

/// Damerau-Levenshtein, in its restricted form (no edit inside a swapped pair).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

std::size_t still_near(std::size_t length) { return std::clamp<std::size_t>(length / 3, 1, kFarthest); }

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string best;
  std::size_t best_distance = kFarthest + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t length = std::max(word.size(), candidate.size());
    if (length < 2) continue;  // any single letter is one change from any other
    const std::size_t edits = distance(lower(word), lower(candidate));
    if (edits <= still_near(length) && edits < best_distance) {
      best = candidate;
      best_distance = edits;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string best = nearest(word, known);
  return best.empty() ? std::string{} : "; did you mean '" + best + "'?";
}

std::string joined(const std::vector<std::string>& words, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " " + last + " " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace slipway::core
