// SPDX-License-Identifier: Apache-2.0
// sim/state/events.hpp - what happens on a simulated machine: events are kept, and the calls that wait are woken.
//
// The machine's word `changes` is a futex that all processes share: a call that waits sleeps in the kernel until
// somebody changes the word. Nothing is held while it sleeps, so a process that dies leaves nothing behind. All of this
// with the machine locked, except for the wait itself.
#pragma once

#include <cstdint>
#include <ctime>

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Wakes the calls that wait: something that they could wait for has changed.
void note_change(Machine& machine);

/// Sleeps until the machine has changed since `seen` was read of it, with the machine unlocked; sometimes for no
/// reason.
/// @param deadline  CLOCK_MONOTONIC; null: none
/// @return false when the deadline has passed, or the thread got a signal
bool wait_for_change_since(const Machine& machine, std::uint32_t seen, const timespec* deadline);

/// CLOCK_MONOTONIC, that many milliseconds from now.
timespec deadline_after(std::uint32_t milliseconds);

/// Which events a GPU has: NVML_EVENT_… bits, by its model and by the driver.
std::uint64_t supported_events(const Machine& machine, const Gpu& gpu);

/// Keeps an event of a GPU, where GPU and driver have it, and wakes those who wait.
void add_event(Machine& machine, unsigned gpu, std::uint64_t type, std::uint64_t data);

/// The same for an event of the system that a GPU is the subject of: NVML_SYSTEM_EVENT_….
void add_system_event(Machine& machine, unsigned gpu, std::uint64_t type);

/// The next event that an event set is for.
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
