// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/mig/every_arrangement.hpp - finds the least number of instances that must be removed, by trying
// everything.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "mig/layout/gpu.hpp"

namespace slipway::mig::testing {

/// Returns every arrangement of these whole devices with the most instances of `now`, by trying all placements.
class EveryArrangement {
 public:
  EveryArrangement(const Gpu& now, const Counts& wanted) : now_(now) {
    for (const auto& [profile, count] : wanted) list_.insert(list_.end(), count, now.find(profile));
  }

  /// @return the least number of the instances that must be removed
  unsigned fewest_destroyed() {
    run(0);
    return best_;
  }

 private:
  void run(std::size_t next) {
    if (next == list_.size()) {
      unsigned kept = 0;
      for (const GpuInstance& each : now_.instances)
        kept += std::ranges::any_of(
            placed_, [&](const auto& one) { return one.first->id == each.profile_id && one.second == each.start; });
      best_ = std::min(best_, static_cast<unsigned>(now_.instances.size()) - kept);
      return;
    }
    for (const unsigned start : list_[next]->starts) {
      if (next > 0 && list_[next - 1] == list_[next] && start <= placed_.back().second) continue;
      const bool free = std::ranges::none_of(placed_, [&](const auto& one) {
        return start < one.second + one.first->size && one.second < start + list_[next]->size;
      });
      if (!free) continue;
      placed_.emplace_back(list_[next], start);
      run(next + 1);
      placed_.pop_back();
    }
  }

  const Gpu& now_;
  std::vector<const InstanceProfile*> list_;
  std::vector<std::pair<const InstanceProfile*, unsigned>> placed_;
  unsigned best_ = std::numeric_limits<unsigned>::max();
};

}  // namespace slipway::mig::testing
