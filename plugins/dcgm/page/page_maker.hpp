// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/page/page_maker.hpp - renders the page and its JSON from sample to sample, and remembers ten minutes.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "dcgm/page/overview.hpp"

namespace slipway::dcgm {

/// The rendered page, as it is sent to clients.
struct PageTexts {
  std::string html;
  std::string json;
};

/// Used by the sampling thread.
class PageMaker {
 public:
  using Clock = std::chrono::steady_clock;
  /// A shorter interval would not help a reader, however short the interval of the metrics is.
  static constexpr std::chrono::milliseconds kShortest{2000};

  /// `interval` of the options is that of the samples.
  explicit PageMaker(OverviewOptions options);

  /// True when the next sample needs details because a page will be made of it.
  bool is_due(Clock::time_point now) const { return now + options_.interval / 4 >= next_; }
  /// Adds a sample to the history of ten minutes.
  void add(const Sample& sample, Clock::time_point now);
  /// @param released  another program has asked for the driver
  Overview overview(const Sample& sample, const Counters& counters, const PodsAndHealth& known, bool released);
  std::shared_ptr<const PageTexts> make(const Sample& sample, const Counters& counters, const PodsAndHealth& known,
                                        bool released);

 private:
  struct Kept {
    Past past;
    std::map<unsigned, std::uint64_t> xids;  ///< XIDs in the previous sample
  };

  OverviewOptions options_;
  Clock::time_point next_{};
  std::map<std::string, Kept> gpus_;  ///< by UUID
};

}  // namespace slipway::dcgm
