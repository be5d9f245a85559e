// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/kubelet_view.hpp - kubelet's view of our resources and of the holders of devices: its
// pod resources API and its checkpoint, in a thread of its own, so that a slow kubelet blocks nothing else.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <slipway/fd.hpp>
#include <slipway/host.hpp>
#include <slipway/watch/file_watch.hpp>

#include "nvidia/kubelet/allocations.hpp"

namespace slipway::deviceplugin {

/// Reads kubelet's state when kubelet writes its checkpoint or creates its socket, and every ten seconds, because no
/// event reports the end of an init container. While kubelet is about to take a new offer it reads ten times a second.
class KubeletView {
 public:
  using Clock = std::chrono::steady_clock;
  using Allocations = std::shared_ptr<const std::vector<nvidia::kubelet::Allocation>>;

  /// @param host          borrowed
  /// @param kubelet_root  kubelet's folder, in the host's root
  /// @param on_change     called in the thread whenever view() has changed; must return at once
  KubeletView(const Host& host, const std::string& kubelet_root, std::function<void()> on_change);
  ~KubeletView();
  KubeletView(const KubeletView&) = delete;
  KubeletView& operator=(const KubeletView&) = delete;

  /// Sets the offer that was sent to kubelet: the number of healthy devices by resource.
  void offers(std::map<std::string, long> offered);

  struct View {
    /// Allocations of all resources; from the checkpoint alone while kubelet does not answer. Null before the first
    /// read.
    Allocations allocations;
    /// Healthy devices by resource according to kubelet; empty: it does not answer, or is older than 1.21.
    std::optional<std::map<std::string, long>> allocatable;
    /// The offer changed less than ten seconds ago, and kubelet has not confirmed the new one.
    bool settling = false;
  };
  View view() const;

 private:
  struct KubeletReading {
    std::vector<nvidia::kubelet::Allocation> allocations;
    std::optional<std::map<std::string, long>> allocatable;
  };
  void work(const std::stop_token& stop);
  KubeletReading look(const std::map<std::string, long>& offered);
  /// @return true when view() has changed
  bool take(KubeletReading seen);
  void pause();
  void wake() const;
  bool is_settling(Clock::time_point now) const;

  const Host& host_;
  std::string socket_;
  nvidia::kubelet::AllocationReader reader_;
  std::function<void()> on_change_;
  std::optional<FileWatch> watch_;
  Fd wake_;  ///< eventfd
  mutable std::mutex mutex_;
  std::map<std::string, long> offered_;
  Clock::time_point offered_since_;
  Allocations allocations_;
  std::optional<std::map<std::string, long>> allocatable_;
  bool reported_settling_ = false;
  std::jthread thread_;
};

}  // namespace slipway::deviceplugin
