// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/kubelet_view.hpp - what kubelet says of our resources (pod resources API), asked again
// and again in a thread of its own: a kubelet that is slow holds up nothing else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "deviceplugin/service/grpc/pod_resources.hpp"

namespace slipway::deviceplugin {

class KubeletView {
 public:
  using Clock = std::chrono::steady_clock;

  explicit KubeletView(std::string socket);
  ~KubeletView();
  KubeletView(const KubeletView&) = delete;
  KubeletView& operator=(const KubeletView&) = delete;

  /// What kubelet has been sent, from now on: the number of healthy devices by resource.
  void offers(std::map<std::string, long> offered);

  struct View {
    std::optional<PodResources> seen;  ///< the newest answer; empty while kubelet does not answer
    /// The offer changed less than ten seconds ago, and kubelet has not said since that it has the new one.
    bool settling = false;
  };
  View view() const;

 private:
  void work(const std::stop_token& stop);
  bool has_it() const;
  bool is_settling(Clock::time_point now) const;

  std::string socket_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<std::string, long> offered_;
  Clock::time_point offered_since_;
  std::optional<PodResources> seen_;
  std::jthread thread_;
};

}  // namespace slipway::deviceplugin
