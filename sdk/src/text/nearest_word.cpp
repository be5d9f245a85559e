// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include <slipway/text.hpp>

namespace slipway {
namespace {

constexpr std::size_t kLongestWord = 100;  // longer words are not typing errors, and the table is quadratic
constexpr std::size_t kFarthest = 3;

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Damerau-Levenshtein, in its restricted form (no edit inside a swapped pair).
std::size_t edits_between(const std::string& a, const std::string& b) {
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

std::size_t most_edits(std::size_t length) { return std::clamp<std::size_t>(length / 3, 1, kFarthest); }

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t longer = std::max(from.size(), to.size());
  if (from == to) return 0;
  return longer > kLongestWord ? longer : edits_between(lower(from), lower(to));
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = kFarthest + 1;
  for (const std::string& candidate : known) {
    const std::size_t length = std::max(word.size(), candidate.size());
    if (length < 2) continue;  // any single letter is one change away from any other
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= most_edits(length) && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string best = nearest_word(word, known);
  return best.empty() ? std::string{} : "; did you mean '" + best + "'?";
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known, std::string_view otherwise) {
  const std::string best = nearest_word(word, known);
  return best.empty() ? std::string(otherwise) : "did you mean '" + best + "'?";
}

std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known,
                                       std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : known) ranked.emplace_back(edit_distance(word, candidate), candidate);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> words;
  for (auto& [distance, candidate] : ranked)
    if (words.size() < count) words.push_back(std::move(candidate));
  return words;
}

}  // namespace slipway
