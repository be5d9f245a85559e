// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/attribution_watch.hpp - keeps the attribution up to date, from kubelet and from the folder of jobs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <slipway/host.hpp>

#include "dcgm/pods/attribution.hpp"
#include "dcgm/pods/background_question.hpp"

namespace slipway::dcgm {

class AttributionWatch {
 public:
  /// Asks at once, then after each ask(), at most once per `every`. If the questions fail, the last answer stays valid
  /// for three times `every`. Errors: the host's root cannot be opened.
  static Result<AttributionWatch> start(const Host& host, const AttributionSettings& settings,
                                        std::chrono::milliseconds every);
  /// Requests a new answer and returns at once; known() has it when it arrives.
  void ask();
  /// @param news  called from another thread when an answer differs from the previous one
  void on_change(const std::function<void()>& news);
  /// At once.
  Attribution known() const;

 private:
  std::unique_ptr<KeptUpToDate<GpuPods>> pods_;
  std::unique_ptr<KeptUpToDate<Jobs>> jobs_;
};

}  // namespace slipway::dcgm
