// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/keeper.hpp - does the checks again and again, and says what the files and gauges should be.
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

  /// @param tried  called from another thread when CUDA was tried: the next round has what came of it
  Keeper(const Host& host, Settings settings, DriverLook look, std::function<void()> tried = {});
  ~Keeper() { release(); }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// One round. @param ask_nvml  else its last answer counts, as long as the kernel shows the same driver
  /// @return findings that are not as they were, for the log
  std::vector<Finding> pass(bool ask_nvml);
  /// While the driver must not be touched: takes back what the kernel shows to be no longer so.
  void pass_without_driver();
  /// From now on these names count for the device plugin's.
  void take_names(std::set<std::string> named) { settings_.kubelet.named = std::move(named); }
  /// Ends a CUDA trial under way. What NVML answered before does not count any more.
  void release();

  /// The files that should be there now.
  std::map<std::string, StatusFile> files() const;
  /// The driver worked in the last round.
  bool driver_works() const { return ready(kDriverCheck); }
  /// How often NVML was asked.
  std::uint64_t looks() const { return driver_.looks(); }
  /// What the checks go by, the most important first.
  std::vector<std::string> paths() const;
  /// All that this validator looks after.
  std::vector<std::string> looked_after() const;
  /// Thread-safe.
  Gauges gauges() const;
  /// "driver, toolkit; not: cuda".
  std::string summary() const;
  /// The checks that do not pass, a line each.
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

  // CUDA is tried once for each driver and set of GPUs, and again a minute after it did not pass.
  std::future<Finding> trial_;
  std::string tried_for_;
  Clock::time_point tried_at_;

  mutable std::mutex mutex_;
  Gauges gauges_;
  std::jthread trial_thread_;  ///< ends before what it uses
};

}  // namespace slipway::validator
