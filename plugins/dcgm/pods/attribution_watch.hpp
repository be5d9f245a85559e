// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/attribution_watch.hpp - keeps the attribution up to date, from kubelet and from the folder of jobs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <slipway/host.hpp>

#include "dcgm/pods/attribution.hpp"
#include "dcgm/pods/kept_up_to_date.hpp"

namespace slipway::dcgm {

class AttributionWatch {
 public:
  /// Asks at once, then for each ask(), at most each `every`. What was known counts for three times that when it cannot
  /// be known any more.
  /// Errors: the host's root cannot be opened.
  static Result<AttributionWatch> start(const Host& host, const AttributionSettings& settings,
                                        std::chrono::milliseconds every);
  /// Wants to know it anew. At once; known() has the answer when it comes.
  void ask();
  /// @param news  called from another thread when an answer differs from the one before
  void on_news(const std::function<void()>& news);
  /// At once.
  Attribution known() const;

 private:
  std::unique_ptr<KeptUpToDate<GpuPods>> pods_;
  std::unique_ptr<KeptUpToDate<Jobs>> jobs_;
};

}  // namespace slipway::dcgm
