// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/aside_folders.hpp - removes the pipe folders that were moved aside, since what pods
// left in them is beyond the service's powers.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::deviceplugin {

/// "nvidia.com/gpu" for each folder of a resource below mpsRoot. What pods make in the shared memory there is none.
std::vector<std::string> resources_below(const Host& host, const std::string& mps_root);

/// Used by one thread. Where systemd runs, a unit with few more powers than the service's empties the folders; else the
/// service does, with its own.
class AsideFolders {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;
  AsideFolders(const Host& host, Log log) : host_(host), log_(std::move(log)) {}

  /// Now and then: removes those that are empty, and has the others emptied.
  void tick(const std::string& mps_root);

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::string> found(const std::string& mps_root) const;
  void remove_empty(std::vector<std::string>& folders);
  /// @return there are some that the log did not name before
  bool tell_fresh(const std::vector<std::string>& folders);
  void start_emptying(const std::vector<std::string>& folders);

  const Host& host_;
  Log log_;
  Clock::time_point next_look_;
  Clock::time_point next_emptying_;
  std::set<std::string> told_;  ///< paths that the log names
  std::string problem_;
};

}  // namespace slipway::deviceplugin
