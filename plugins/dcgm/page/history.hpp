// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/page/history.hpp - the last ten minutes of a GPU, for the line in its tile.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace slipway::dcgm {

/// A mean value for each five seconds. It takes half a kilobyte, for any number of values.
class History {
 public:
  using Time = std::chrono::system_clock::time_point;
  static constexpr std::chrono::seconds kStep{5};
  static constexpr std::size_t kSteps = 120;

  /// @param percent  empty: there is no value now, which leaves a gap in the line
  void add(Time now, std::optional<double> percent);

  /// Returns kSteps values before `now`, the oldest first, in per cent; empty: there was no value. A value is valid
  /// until the next one, for at most `stays`.
  std::vector<std::optional<unsigned>> steps(Time now, std::chrono::milliseconds stays) const;

 private:
  struct Mean {
    std::int64_t step = 0;    ///< since the epoch
    std::uint16_t count = 0;  ///< of the values; 0: there is none
    float sum = 0;
  };
  std::array<Mean, kSteps> ring_{};
};

}  // namespace slipway::dcgm
