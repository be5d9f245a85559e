// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/keeper.hpp - repeats the checks, and returns the contents of the files and gauges.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <slipway/host.hpp>

#include "validator/check.hpp"
#include "validator/driver_check.hpp"
#include "validator/service/gauges.hpp"
#include "validator/service/status_files.hpp"
#include "validator/settings.hpp"
#include "validator/toolkit_check.hpp"

namespace slipway::validator {

class Keeper {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param tried  called from another thread when a CUDA trial has ended: the next round has its result
  Keeper(const Host& host, Settings settings, DriverLook look, std::function<void()> tried = {});
  ~Keeper() { release(); }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Runs one round. @param ask_nvml  false: its last answer counts, as long as the kernel shows the same driver
  /// @return findings that have changed, for the log
  std::vector<Finding> pass(bool ask_nvml);
  /// Called while the driver must not be used: withdraws results that are no longer true according to the kernel.
  void pass_without_driver();
  /// Sets the resource names of the device plugin.
  void take_names(std::set<std::string> named) { settings_.kubelet.named = std::move(named); }
  /// Ends a running CUDA trial, and discards NVML's last answer.
  void release();

  /// Returns the files that should exist now.
  std::map<std::string, StatusFile> files() const;
  /// True when the driver worked in the last round.
  bool driver_works() const { return ready(kDriverCheck); }
  /// Number of NVML sessions so far.
  std::uint64_t looks() const { return driver_.looks(); }
  /// Returns the paths that the checks depend on, the most important first.
  std::vector<std::string> paths() const;
  /// Returns all files that this validator manages.
  std::vector<std::string> looked_after() const;
  /// Thread-safe.
  Gauges gauges() const;
  /// Returns "driver, toolkit; not: cuda".
  std::string summary() const;
  /// Returns a line for each check that does not pass.
  std::vector<std::string> failures() const;

 private:
  void take(Finding finding);
  void look_at_cuda();
  std::string cuda_reason() const;
  bool ready(const char* check) const;
  void update_gauges();

  const Host& host_;
  Settings settings_;
  std::function<void()> tried_;
  DriverCheck driver_;
  ToolkitCheck toolkit_;
  std::int64_t driver_time_ = 0;  ///< when NVML last answered for every GPU, in seconds since 1970
  std::map<std::string, Finding> findings_;
  std::vector<Finding> changed_;

  // CUDA is tried once for each driver and set of GPUs, and again a minute after a trial that did not pass.
  std::future<Finding> trial_;
  std::string tried_for_;
  Clock::time_point tried_at_;

  mutable std::mutex mutex_;
  Gauges gauges_;
  std::jthread trial_thread_;  ///< ends before the members that it uses
};

}  // namespace slipway::validator
