// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/xid_watch.hpp - the last XID of each GPU, and other data from NVML's events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dcgm/sampler/sample.hpp"
#include "nvidia/nvml/event_watch.hpp"

namespace slipway::dcgm {

/// The changes reported by events since the last call.
struct EventNews {
  bool states = false;  ///< a GPU is lost, is back or is partitioned differently: the next sample shows it
  std::vector<XidEvent> xids;
};

/// Used by one thread. NVML's wait runs in another thread, so that no polling is needed. Events are kept when NVML is
/// closed.
class XidWatch {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;
  explicit XidWatch(Log log) : log_(std::move(log)) {}

  /// Watches these GPUs: UUIDs by handle.
  void update(nvidia::nvml::Nvml& nvml, const std::map<nvmlDevice_t, std::string>& gpus);
  /// Returns the events that have arrived; does not wait.
  EventNews take();
  /// Becomes readable when take() has something to return; -1: nothing is watched.
  int fd() const { return events_ ? events_->fd() : -1; }
  /// True when an event reports a change of this GPU's MIG mode.
  bool tells_of_mig(nvmlDevice_t gpu) const { return with_mig_.contains(gpu); }
  /// The GPUs whose MIG has changed since the last call.
  std::set<nvmlDevice_t> take_mig_changes() { return std::exchange(mig_changes_, {}); }
  /// Call it before NVML is closed.
  void release();
  /// @param instance  the GPU instance; without one, or if it had no XID, the whole GPU's last one counts. 0: no XID
  ///   yet
  std::uint64_t last(const std::string& uuid, std::optional<unsigned> instance) const;
  /// Returns the XIDs since the last call.
  std::vector<XidEvent> take_new() { return std::exchange(new_, {}); }
  /// Returns the last XID of each GPU instance that had one, or of NVML_NO_INSTANCE.
  std::map<unsigned, std::uint64_t> all(const std::string& uuid) const;

 private:
  void take(const nvmlEventData_t& event, EventNews& news);

  Log log_;
  std::shared_ptr<nvidia::nvml::EventWatch> events_;
  std::map<nvmlDevice_t, std::string> watched_;
  std::set<nvmlDevice_t> with_mig_;
  std::set<nvmlDevice_t> mig_changes_;
  std::vector<XidEvent> new_;
  std::map<std::pair<std::string, unsigned>, std::uint64_t> last_;  ///< by UUID and instance, or NVML_NO_INSTANCE
};

}  // namespace slipway::dcgm
