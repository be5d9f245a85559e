// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/kernel_log_watch.hpp - XIDs from the kernel's log as they are written, for when NVML hangs or
// the driver is gone.
//
// Whoever may write to /dev/kmsg (root) can write such lines as well; nobody else can. What is read is bounded: lines,
// their length, and how many of them are taken at a time.
#pragma once

#include <deque>

#include <slipway/root_dir.hpp>

#include "nvidia/health/rules.hpp"
#include "nvidia/xid.hpp"

namespace slipway::nvidia::health {

/// Used by one thread.
class KernelLogWatch {
 public:
  explicit KernelLogWatch(RootDir root) : root_(std::move(root)) {}

  /// The XIDs that were written since the last call; the first one only finds the end of the log. At most 256 records
  /// are read at a time, and the rest waits.
  std::vector<Xid> read();
  /// Why the log cannot be read; empty: it can.
  const std::string& problem() const { return problem_; }

 private:
  void take(std::string_view record, std::vector<Xid>& xids) const;

  RootDir root_;
  Fd log_;
  std::string problem_;
};

/// The XIDs of NVML and of the kernel's log together, each of them once.
class XidMerger {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  enum class From { nvml, kernel };

  /// Whether this one is new: the other source has not told it within the last minute.
  bool is_new(From from, const std::string& gpu, unsigned number, Moment now);

 private:
  struct Told {
    From from;
    std::string gpu;
    unsigned number;
    Moment time;
  };
  std::deque<Told> told_;  ///< that the other source has not told yet
};

}  // namespace slipway::nvidia::health
