// SPDX-License-Identifier: Apache-2.0
// sim/nvml/next_event.hpp - the next event of the machine that an event set is for.
#pragma once

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// @param seen    number of the last event that was given or passed over; moves on
/// @param wanted  `wanted(event)`: is the set registered for it? Its GPU is one that there is place for.
/// @return null: none has come
template <class Wanted>
const Event* next_event(const Machine& machine, std::uint64_t& seen, Wanted wanted) {
  const std::uint64_t oldest = machine.last_event >= kMaxEvents ? machine.last_event - kMaxEvents + 1 : 1;
  if (seen + 1 < oldest) seen = oldest - 1;
  while (seen < machine.last_event) {
    const Event& event = machine.events[++seen % kMaxEvents];
    if (event.gpu < kMaxGpus && wanted(event)) return &event;
  }
  return nullptr;
}

}  // namespace slipway::sim
