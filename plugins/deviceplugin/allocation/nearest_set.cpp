// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/allocation/nearest_set.cpp - the set of GPUs with the best connections: all sets are compared
// while there are few, otherwise sets are improved by exchange.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "deviceplugin/allocation/preferred_devices.hpp"

namespace slipway::deviceplugin {
namespace {

using Places = std::vector<std::size_t>;

constexpr std::size_t kExact = 16;  // C(16, 8) = 12870 sets: well below a millisecond

unsigned long inside(const Places& set, const Nearness& nearness) {
  unsigned long sum = 0;
  for (std::size_t i = 0; i < set.size(); ++i)
    for (std::size_t j = i + 1; j < set.size(); ++j) sum += nearness.of(set[i], set[j]);
  return sum;
}

/// Tries all sets of a size, and updates the sums of inside and remaining pairs, so that a step costs one row.
class ExactSearch {
 public:
  ExactSearch(const Places& candidates, const Places& required, std::size_t size, const Nearness& nearness)
      : candidates_(candidates), size_(size) {
    const std::size_t count = candidates.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (std::ranges::find(required, candidates[i]) != required.end()) required_ |= 1U << i;
      for (std::size_t j = 0; j < count; ++j)
        if (i != j) rows_[i][j] = nearness.of(candidates[i], candidates[j]);
    }
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j) to_all_[i] += rows_[i][j];
  }

  Places best() {
    step(0, 0, 0, 0);
    Places places;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if ((found_ >> i & 1U) != 0) places.push_back(candidates_[i]);
    return places;
  }

 private:
  /// The pairs inside the remaining candidates have the sum `all - spread + sum`. So the set with the highest (sum, sum
  /// - spread) is the nearest one, and among equal sets the one that leaves the nearest candidates.
  /// @param sum     sum of the pairs inside `set`
  /// @param spread  sum of the pairs of each member with all candidates
  void step(std::size_t next, std::uint32_t set, long sum, long spread) {
    const auto chosen = static_cast<std::size_t>(std::popcount(set));
    if (chosen == size_) {
      if ((set & required_) != required_) return;
      if (any_ && (sum < sum_ || (sum == sum_ && sum - spread <= rest_))) return;
      any_ = true;
      found_ = set;
      sum_ = sum;
      rest_ = sum - spread;
      return;
    }
    if (next >= candidates_.size() || candidates_.size() - next < size_ - chosen) return;
    long more = 0;
    for (std::uint32_t left = set; left != 0; left &= left - 1) more += rows_[next][std::countr_zero(left)];
    step(next + 1, set | 1U << next, sum + more, spread + to_all_[next]);
    if ((required_ >> next & 1U) == 0) step(next + 1, set, sum, spread);
  }

  const Places& candidates_;
  std::size_t size_;
  std::uint32_t required_ = 0;
  unsigned rows_[kExact][kExact] = {};
  unsigned to_all_[kExact] = {};
  bool any_ = false;
  std::uint32_t found_ = 0;
  long sum_ = 0;
  long rest_ = 0;
};

unsigned long to_set(std::size_t place, const Places& set, const Nearness& nearness) {
  unsigned long sum = 0;
  for (const std::size_t other : set)
    if (other != place) sum += nearness.of(place, other);
  return sum;
}

/// Adds the nearest candidate one after the other, then exchanges members while that improves the sum.
Places by_exchange(const Places& candidates, const Places& required, std::size_t size, const Nearness& nearness) {
  Places set = required;
  const auto free = [&set](std::size_t place) { return std::ranges::find(set, place) == set.end(); };
  while (set.size() < size) {
    const Places* const others = set.empty() ? &candidates : &set;
    std::size_t best = candidates.size();
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (free(candidates[i]) && (best == candidates.size() || to_set(candidates[i], *others, nearness) >
                                                                   to_set(candidates[best], *others, nearness)))
        best = i;
    set.push_back(candidates[best]);
  }
  for (unsigned long before = 0, now = inside(set, nearness); before != now; now = inside(set, nearness)) {
    before = now;
    for (std::size_t i = required.size(); i < set.size(); ++i)
      for (const std::size_t place : candidates) {
        Places others = set;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        if (free(place) && to_set(place, others, nearness) > to_set(set[i], others, nearness)) set[i] = place;
      }
  }
  std::ranges::sort(set);
  return set;
}

}  // namespace

Places nearest_set(const Places& candidates, const Places& required, std::size_t size, const Nearness& nearness) {
  if (size >= candidates.size()) return candidates;
  if (candidates.size() <= kExact) return ExactSearch(candidates, required, size, nearness).best();
  return by_exchange(candidates, required, size, nearness);
}

}  // namespace slipway::deviceplugin
