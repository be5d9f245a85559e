// SPDX-License-Identifier: Apache-2.0
// sim/state/events.hpp - the events of a simulated machine: they are kept, and waiting calls are woken.
//
// The machine's word `changes` is a futex that all processes share: a waiting call sleeps in the kernel until another
// process changes the word. Nothing is held while it sleeps, so a process that dies leaves nothing behind. The machine
// is locked for all of this, except for the wait itself.
#pragma once

#include <cstdint>
#include <ctime>

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Wakes waiting calls: something that they could wait for has changed.
void note_change(Machine& machine);

/// Sleeps until the machine has changed since `seen` was read, with the machine unlocked; may wake without a reason.
/// @param deadline  CLOCK_MONOTONIC; null: none
/// @return false when the deadline has passed, or the thread got a signal
bool wait_for_change_since(const Machine& machine, std::uint32_t seen, const timespec* deadline);

/// Returns CLOCK_MONOTONIC plus that many milliseconds.
timespec deadline_after(std::uint32_t milliseconds);

/// Returns the events of a GPU: NVML_EVENT_… bits, by its model and the driver.
std::uint64_t supported_events(const Machine& machine, const Gpu& gpu);

/// Stores an event of a GPU, if GPU and driver support it, and wakes waiting calls.
void add_event(Machine& machine, unsigned gpu, std::uint64_t type, std::uint64_t data);

/// The same for an event of the system about a GPU: NVML_SYSTEM_EVENT_….
void add_system_event(Machine& machine, unsigned gpu, std::uint64_t type);

/// Returns the next event for an event set.
/// @param seen    number of the last event that was returned or skipped; is updated
/// @param wanted  `wanted(event)`: true when the set is registered for it; the index of its GPU is in range
/// @return null: there is none
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
