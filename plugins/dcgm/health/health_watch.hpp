// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/health_watch.hpp - the health of the GPUs, from samples, their XIDs and the kernel's log.
#pragma once

#include <string>
#include <vector>

#include "dcgm/counters/counters.hpp"
#include "dcgm/sampler/sample.hpp"
#include "nvidia/health/kernel_log_watch.hpp"
#include "nvidia/health/record.hpp"

namespace slipway::dcgm {

/// Used by one thread.
class HealthWatch {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  explicit HealthWatch(RootDir root) : kernel_log_(std::move(root)) {}

  /// What a sample says. @param counters  those that it was taken with
  void take(const Sample& sample, const Counters& counters, const nvidia::health::Rules& rules, Moment now);
  /// What the kernel's log says; more often than samples, and also while none can be taken.
  void take_kernel_log(const nvidia::health::Rules& rules, Moment now);

  /// What speaks against a GPU now, the worst first. @param uuid  as GpuIdentity::uuid
  std::vector<nvidia::health::Reason> of(const std::string& uuid) const { return record_.of(uuid); }
  /// slipway_dcgm_gpu_healthy and slipway_dcgm_gpu_health_reason, for the page of a scrape.
  /// @param old_names  the label `uuid` in the place of `UUID`, as the other metrics have it
  std::string metrics(const std::string& host_name, bool old_names) const;
  /// A line for each reason: "GPU 3 (00000000:65:00.0): XID 79: …".
  std::vector<std::string> lines() const;

 private:
  nvidia::health::HealthRecord record_;
  nvidia::health::KernelLogWatch kernel_log_;
  nvidia::health::XidMerger merger_;
  std::vector<GpuState> gpus_;  ///< of the last sample, those with a UUID
};

}  // namespace slipway::dcgm
