// SPDX-License-Identifier: Apache-2.0
#include "dcgm/page/history.hpp"

#include <algorithm>
#include <cmath>

namespace slipway::dcgm {
namespace {

std::int64_t step_of(History::Time time) { return time.time_since_epoch() / History::kStep; }

constexpr std::uint16_t kMostCounted = 10000;  // further values in the same step do not change its mean

}  // namespace

void History::add(Time now, std::optional<double> percent) {
  const std::int64_t step = step_of(now);
  Mean& mean = ring_[static_cast<std::size_t>(step) % kSteps];
  if (mean.step != step) mean = {.step = step, .count = 0, .sum = 0};
  if (!percent || !std::isfinite(*percent) || mean.count == kMostCounted) return;
  ++mean.count;
  mean.sum += static_cast<float>(std::clamp(*percent, 0.0, 100.0));
}

std::vector<std::optional<unsigned>> History::steps(Time now, std::chrono::milliseconds stays) const {
  const std::int64_t last = step_of(now);
  const std::int64_t longest = std::max<std::int64_t>(stays / kStep, 0);
  std::vector<std::optional<unsigned>> all;
  std::optional<unsigned> value;
  std::int64_t since = 0;
  for (std::int64_t step = last - static_cast<std::int64_t>(kSteps) + 1; step <= last; ++step) {
    const Mean& mean = ring_[static_cast<std::size_t>(step) % kSteps];
    if (mean.step == step) {
      value = mean.count == 0
                  ? std::nullopt
                  : std::optional(static_cast<unsigned>(std::lround(mean.sum / static_cast<float>(mean.count))));
      since = step;
    } else if (step - since > longest) {
      value.reset();
    }
    all.push_back(value);
  }
  return all;
}

}  // namespace slipway::dcgm
