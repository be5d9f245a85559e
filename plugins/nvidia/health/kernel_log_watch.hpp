// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/kernel_log_watch.hpp - XIDs from the kernel's log as they are written, for a hanging NVML or a
// missing driver.
//
// Only root can write such lines itself, to /dev/kmsg. The input is bounded: lines, their length, and the number of
// lines read at a time.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <slipway/root_dir.hpp>

#include "nvidia/health/rules.hpp"
#include "nvidia/xid.hpp"

namespace slipway::nvidia::health {

/// Used by one thread.
class KernelLogWatch {
 public:
  /// @param has_log  false if the log belongs to another machine (Host::borrows_root()): nothing is read
  explicit KernelLogWatch(RootDir root, bool has_log = true) : root_(std::move(root)), has_log_(has_log) {}

  /// Returns the XIDs since the last call; the first call only finds the end of the log. Reads at most 256 records at a
  /// time.
  std::vector<Xid> read();
  /// True when read() has seen other lines of the driver since the last call: it was loaded or unloaded, or reported a
  /// problem.
  bool take_driver_lines() { return std::exchange(driver_lines_, false); }
  /// Can be polled: readable when read() has something to do; -1: the log cannot be read, or is a plain file.
  int fd() const { return can_be_waited_for_ ? log_.get() : -1; }
  /// Says why the log cannot be read; empty: it can.
  const std::string& problem() const { return problem_; }

 private:
  void take(std::string_view record, std::vector<Xid>& xids);

  RootDir root_;
  bool has_log_;
  Fd log_;
  bool can_be_waited_for_ = false;
  bool driver_lines_ = false;
  std::string problem_;
};

/// Merges the XIDs of NVML and of the kernel's log, without duplicates.
class XidMerger {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  enum class From { nvml, kernel };

  /// True when this XID is new: the other source has not reported it within the last minute.
  bool is_new(From from, const std::string& gpu, unsigned number, Moment now);

 private:
  struct ReportedXid {
    From from;
    std::string gpu;
    unsigned number;
    Moment time;
  };
  std::deque<ReportedXid> reported_;  ///< XIDs that the other source has not reported yet
};

}  // namespace slipway::nvidia::health
