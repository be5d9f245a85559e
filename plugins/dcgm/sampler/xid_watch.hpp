// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/xid_watch.hpp - the last XID of each GPU, from the events that NVML has of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dcgm/sampler/sample.hpp"
#include "nvidia/nvml/event.hpp"

namespace slipway::dcgm {

/// Used by one thread. What was seen stays when NVML is closed.
class XidWatch {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;
  explicit XidWatch(Log log) : log_(std::move(log)) {}

  /// Takes the events that came, then watches these GPUs: UUIDs by handle.
  void update(nvidia::nvml::Nvml& nvml, const std::map<nvmlDevice_t, std::string>& gpus);
  /// Before NVML is closed.
  void release();
  /// @param instance  of the GPU instance alone; without one, and until it had one, of the whole GPU. 0: none yet
  std::uint64_t last(const std::string& uuid, std::optional<unsigned> instance) const;
  /// What came since this was asked before.
  std::vector<XidEvent> take_new() { return std::exchange(new_, {}); }
  /// The last one of each GPU instance that had one, or NVML_NO_INSTANCE.
  std::map<unsigned, std::uint64_t> all(const std::string& uuid) const;

 private:
  void take_events();
  void take(const nvmlEventData_t& event);

  Log log_;
  std::shared_ptr<nvidia::nvml::EventSet> events_;
  std::map<nvmlDevice_t, std::string> watched_;
  std::vector<XidEvent> new_;
  std::map<std::pair<std::string, unsigned>, std::uint64_t> last_;  ///< by UUID and instance, or NVML_NO_INSTANCE
};

}  // namespace slipway::dcgm
