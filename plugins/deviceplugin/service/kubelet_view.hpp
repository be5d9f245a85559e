// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/kubelet_view.hpp - what kubelet says of our resources (pod resources API), asked again
// and again in a thread of its own: a kubelet that is slow holds up nothing else.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "deviceplugin/service/grpc/pod_resources.hpp"

namespace slipway::deviceplugin {

class KubeletView {
 public:
  explicit KubeletView(std::string socket);
  ~KubeletView();
  KubeletView(const KubeletView&) = delete;
  KubeletView& operator=(const KubeletView&) = delete;

  /// What is asked about from now on.
  void ask_about(std::vector<std::string> resources);
  /// The newest answer; empty while kubelet does not answer.
  std::optional<PodResources> seen() const;

 private:
  void work(const std::stop_token& stop);

  std::string socket_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<std::string> resources_;
  std::optional<PodResources> seen_;
  std::jthread thread_;
};

}  // namespace slipway::deviceplugin
