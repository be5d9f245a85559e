// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/event.hpp - Xids, ECC errors and the like as they happen; and many counters in one question.
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

/// Events of the GPUs that were registered; those from before are not replayed. Ends with its Nvml's release().
class EventSet {
 public:
  static Answer<std::shared_ptr<EventSet>> create(Nvml& nvml);
  /// Of what is asked for, registers the types that this GPU has. A whole GPU, never a MIG device.
  Answer<int> add(nvmlDevice_t gpu, unsigned long long types);
  /// The next event, for who looks now and then; event_watch.hpp waits for long. TIMEOUT: none came. GPU_IS_LOST: one
  /// of the GPUs is gone, and NVML does not say which.
  Answer<nvmlEventData_t> wait(std::chrono::milliseconds limit);
  /// Gives the set to the caller, who frees it.
  nvmlEventSet_t hand_over() { return std::exchange(set_, nullptr); }
  ~EventSet();
  EventSet(const EventSet&) = delete;
  EventSet& operator=(const EventSet&) = delete;

 private:
  EventSet(Nvml& nvml, nvmlEventSet_t set) : nvml_(nvml), set_(set) {}
  Nvml& nvml_;
  nvmlEventSet_t set_;
};

/// nvmlEventSetWait_v2, or the older one, which tells of no instances.
nvmlReturn_t wait_for_event(const Library& library, nvmlEventSet_t set, unsigned milliseconds, nvmlEventData_t& data);

/// Fields by their NVML_FI_ numbers, all with scope `scope`; each has its own return code. Those that the driver passes
/// over are asked for once more, without the others.
Answer<std::vector<nvmlFieldValue_t>> field_values(Nvml& nvml, nvmlDevice_t device, const std::vector<unsigned>& fields,
                                                   unsigned scope = 0);
/// What the driver asks for to be done to a GPU, as health::recovery_action() numbers it, 0: nothing; empty: this
/// driver never says (before R570).
std::optional<unsigned> asked_recovery_action(Nvml& nvml, nvmlDevice_t gpu);
/// A field as a number, whatever its type.
double number_of(const nvmlFieldValue_t& field);

}  // namespace slipway::nvidia::nvml
