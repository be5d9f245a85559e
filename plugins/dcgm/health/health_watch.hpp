// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/health_watch.hpp - the health of the GPUs, from samples, their XIDs and the kernel's log.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dcgm/counters/counters.hpp"
#include "dcgm/health/health_status.hpp"
#include "dcgm/health/record.hpp"
#include "dcgm/sampler/sample.hpp"
#include "nvidia/health/kernel_log_watch.hpp"

namespace slipway::dcgm {

/// Errors: `invalid` with the place: a rule about a field that DCGM does not have, or that slipway does not read.
Status check_rule_fields(const nvidia::health::Rules& rules);

/// "GPU 3 (0000:65:00.0)"; by the address alone where another GPU may have its index by now.
std::string name_of(const GpuState& state);

/// "GPU 3 (0000:65:00.0): XID 79: the GPU fell off the bus (drain the node, …)".
struct LogLine {
  const char* level;
  std::string text;
};

/// Used by one thread.
class HealthWatch {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// @param has_kernel_log  as of KernelLogWatch
  explicit HealthWatch(const RootDir& root, bool has_kernel_log = true)
      : kernel_log_(root, has_kernel_log), part_(root, "dcgm") {}

  /// What an earlier process of the service knew.
  void load();
  /// Writes what is known for the other services, and takes in what they know: faults of theirs, and ends.
  /// @param runs  whether that service runs, so that what it wrote is about the present
  /// @return  `changed` where what is said of a GPU is other than before. Errors: those of HealthPart::exchange().
  Result<bool> exchange(const std::function<bool(const std::string& service)>& runs);

  /// What a sample says. @param counters  those that it was taken with
  void take(const Sample& sample, const Counters& counters, const nvidia::health::Rules& rules, Moment now);
  /// What the kernel's log says; more often than samples, and also while none can be taken.
  void take_kernel_log(const nvidia::health::Rules& rules, Moment now);
  /// Can be read when the kernel's log has something; -1: it cannot be waited for.
  int kernel_log_fd() const { return kernel_log_.fd(); }

  /// The XIDs since the last call, for the log: a warning where the XID counts.
  std::vector<LogLine> take_heard() { return std::exchange(heard_, {}); }

  /// What speaks against a GPU now, the worst first, also by what another service saw. @param uuid  as
  /// GpuIdentity::uuid
  std::vector<Reason> of(const std::string& uuid) const;
  /// What DCGM's watches would say of each GPU that was ever seen, by UUID.
  std::map<std::string, std::vector<WatchStatus>> watches(const nvidia::health::Rules& rules) const;
  /// slipway_dcgm_gpu_healthy and slipway_dcgm_gpu_health_reason, for the page of a scrape.
  /// @param old_names  the label `uuid` in the place of `UUID`, as the other metrics have it
  std::string metrics(const std::string& host_name, bool old_names) const;
  /// A line for each reason: "GPU 3 (0000:65:00.0) is unhealthy: XID 79: …", as the device plugin says it.
  std::vector<std::string> lines() const;

 private:
  void hear(const GpuState& gpu, std::optional<unsigned> instance, const nvidia::health::XidRule& rule, bool counts);

  std::vector<LogLine> heard_;
  HealthRecord record_;
  nvidia::health::KernelLogWatch kernel_log_;
  nvidia::health::XidMerger merger_;
  nvidia::health::HealthPart part_;
  nvidia::health::HealthOfGpus others_;  ///< what the services that run say, as of the last exchange
  std::vector<GpuState> gpus_;           ///< of the last sample, those with a UUID
};

}  // namespace slipway::dcgm
