// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/attribution_watch.hpp - keeps the attribution up to date, from kubelet and from the folder of jobs.
#pragma once

#include <chrono>
#include <memory>

#include <slipway/host.hpp>

#include "dcgm/pods/attribution.hpp"
#include "dcgm/pods/kept_up_to_date.hpp"

namespace slipway::dcgm {

class AttributionWatch {
 public:
  /// What was known counts for three times `every` when it cannot be known any more.
  /// Errors: the host's root cannot be opened.
  static Result<AttributionWatch> start(const Host& host, const AttributionSettings& settings,
                                        std::chrono::milliseconds every);
  /// At once.
  Attribution known() const;

 private:
  std::unique_ptr<KeptUpToDate<Holders>> pods_;
  std::unique_ptr<KeptUpToDate<Jobs>> jobs_;
};

}  // namespace slipway::dcgm
