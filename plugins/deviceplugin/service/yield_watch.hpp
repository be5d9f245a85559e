// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/yield_watch.hpp - watches for another device plugin to which the GPUs are left
// (`other_plugin: yield`).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "deviceplugin/other_plugin.hpp"

namespace slipway::deviceplugin {

class YieldWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param host  borrowed
  YieldWatch(const Host& host, std::string kubelet_root, OtherPluginPolicy policy)
      : host_(host), kubelet_root_(std::move(kubelet_root)), yields_(policy == OtherPluginPolicy::yield) {}

  bool is_wanted() const { return yields_; }
  /// Lists the sockets in kubelet's folder. When they have changed, and once a minute, it finds their processes and
  /// checks all processes.
  /// @param own  resources that slipway offers, or would offer
  void look(const std::set<std::string>& own, Clock::time_point now);
  /// Names the plugin that the GPUs are left to, as a sentence; empty: slipway offers them.
  const std::string& yields_to() const { return yields_to_; }

 private:
  const Host& host_;
  std::string kubelet_root_;
  bool yields_;
  Clock::time_point next_whole_look_;
  std::vector<std::string> sockets_;
  std::set<std::string> own_;
  std::string yields_to_;
};

}  // namespace slipway::deviceplugin
