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

/// "GPU 3 (0000:65:00.0)"; the address alone if another GPU may have taken its index.
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

  /// @param has_kernel_log  as in KernelLogWatch
  explicit HealthWatch(const RootDir& root, bool has_kernel_log = true)
      : kernel_log_(root, has_kernel_log), part_(root, "dcgm") {}

  /// Loads the faults that an earlier process of the service recorded.
  void load();
  /// Writes the known faults for the other services, and reads theirs: new faults, and faults that ended.
  /// @param runs  true when that service runs, so that its file is current
  /// @return  true when the reasons of a GPU have changed. Errors: those of HealthPart::exchange().
  Result<bool> exchange(const std::function<bool(const std::string& service)>& runs);

  /// Takes the faults from a sample. @param counters  the counters that it was taken with
  void take(const Sample& sample, const Counters& counters, const nvidia::health::Rules& rules, Moment now);
  /// Takes the faults from the kernel's log; called more often than samples are taken, and also while no sample can be
  /// taken.
  void take_kernel_log(const nvidia::health::Rules& rules, Moment now);
  /// Becomes readable when the kernel's log has new lines; -1: it cannot be polled.
  int kernel_log_fd() const { return kernel_log_.fd(); }

  /// Returns the XIDs since the last call as log lines: a warning if the XID counts as a fault.
  std::vector<LogLine> take_log_lines() { return std::exchange(log_lines_, {}); }

  /// Returns the faults of a GPU, the worst first, including those that another service reported. @param uuid  as
  /// GpuIdentity::uuid
  std::vector<Reason> of(const std::string& uuid) const;
  /// Returns the status that DCGM's watches would have for each GPU ever seen, by UUID.
  std::map<std::string, std::vector<WatchStatus>> watches(const nvidia::health::Rules& rules) const;
  /// slipway_dcgm_gpu_healthy and slipway_dcgm_gpu_health_reason, for the page of a scrape.
  /// @param old_names  the label `uuid` instead of `UUID`, as in the other metrics
  std::string metrics(const std::string& host_name, bool old_names) const;
  /// Returns a line for each reason: "GPU 3 (0000:65:00.0) is unhealthy: XID 79: …", in the words of the device plugin.
  std::vector<std::string> lines() const;

 private:
  void log_xid(const GpuState& gpu, std::optional<unsigned> instance, const nvidia::health::XidRule& rule, bool counts);

  std::vector<LogLine> log_lines_;
  HealthRecord record_;
  nvidia::health::KernelLogWatch kernel_log_;
  nvidia::health::XidMerger merger_;
  nvidia::health::HealthPart part_;
  nvidia::health::HealthOfGpus others_;  ///< faults from the other running services, as of the last exchange
  std::vector<GpuState> gpus_;           ///< of the last sample, those with a UUID
};

}  // namespace slipway::dcgm
