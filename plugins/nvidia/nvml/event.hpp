// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/event.hpp - Xids, ECC errors and similar events as they happen; and many counters in one call.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "nvidia/nvml/abi/event.h"
#include "nvidia/nvml/abi/sample.h"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::nvidia::nvml {

/// Events of the registered GPUs; earlier events are not replayed. Ends with its Nvml's release().
class EventSet {
 public:
  static Answer<std::shared_ptr<EventSet>> create(Nvml& nvml);
  /// Registers those of the requested types that this GPU supports. For a whole GPU, never a MIG device.
  Answer<int> add(nvmlDevice_t gpu, unsigned long long types);
  /// Returns the next event, for a caller that polls; event_watch.hpp waits for long. TIMEOUT: no event. GPU_IS_LOST:
  /// one of the GPUs is gone, and NVML does not say which.
  Answer<nvmlEventData_t> wait(std::chrono::milliseconds limit);
  /// Passes the set to the caller, which frees it.
  nvmlEventSet_t hand_over() { return std::exchange(set_, nullptr); }
  ~EventSet();
  EventSet(const EventSet&) = delete;
  EventSet& operator=(const EventSet&) = delete;

 private:
  EventSet(Nvml& nvml, nvmlEventSet_t set) : nvml_(nvml), set_(set) {}
  Nvml& nvml_;
  nvmlEventSet_t set_;
};

/// Calls nvmlEventSetWait_v2, or the older function, which does not report instances.
nvmlReturn_t wait_for_event(const Library& library, nvmlEventSet_t set, unsigned milliseconds, nvmlEventData_t& data);

/// Reads fields by their NVML_FI_ numbers, all with scope `scope`; each has its own return code. Fields that the driver
/// skips are read again, without the others.
Answer<std::vector<nvmlFieldValue_t>> field_values(Nvml& nvml, nvmlDevice_t device, const std::vector<unsigned>& fields,
                                                   unsigned scope = 0);
/// Returns the action that the driver asks for, numbered as in health::recovery_action(), 0: none; empty: this driver
/// never reports one (before R570).
std::optional<unsigned> asked_recovery_action(Nvml& nvml, nvmlDevice_t gpu);
/// Returns a field as a number, for any type.
double number_of(const nvmlFieldValue_t& field);

}  // namespace slipway::nvidia::nvml
