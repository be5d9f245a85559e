// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/event_watch.hpp - NVML's events without polling: a thread waits, and a descriptor becomes
// readable.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "nvidia/nvml/event.hpp"

namespace slipway::nvidia::nvml {

/// The events since the last request.
struct SeenEvents {
  std::vector<nvmlEventData_t> of_gpus;
  std::vector<nvmlSystemEventData_v1_t> of_driver;  ///< a driver was bound to a GPU, or unbound
  /// Not SUCCESS: the wait has ended, and a new watch is needed. GPU_IS_LOST: one of the GPUs is gone, and NVML does
  /// not say which.
  nvmlReturn_t ended = NVML_SUCCESS;
};

/// Waits in a thread of its own until it ends. Without events that thread wakes once per kSlice.
///
/// Its end interrupts the wait by a signal (SIGURG, to that thread alone): NVML's waits return early "when an interrupt
/// arrives". A driver that does not return early delays the end until the slice is over. A wait that hangs counts as a
/// stuck call of its Nvml, which then is not shut down. Ends before its Nvml's release().
class EventWatch {
 public:
  /// Short, because releasing the driver waits for it if the signal has no effect; long enough to wake up only every
  /// five seconds.
  static constexpr std::chrono::seconds kSlice{5};

  /// Watches the events of this set, to which the GPUs were added before.
  static std::shared_ptr<EventWatch> of_gpus(Nvml& nvml, const std::shared_ptr<EventSet>& set);
  /// Watches for drivers that are bound and unbound. Answers `absent()` if the library does not support it: before
  /// R575.
  static Answer<std::shared_ptr<EventWatch>> of_driver(Nvml& nvml);

  ~EventWatch();
  EventWatch(const EventWatch&) = delete;
  EventWatch& operator=(const EventWatch&) = delete;

  /// Becomes readable when take() has something to return.
  int fd() const;
  /// Returns the events so far; does not wait.
  SeenEvents take();

 private:
  struct Desk;
  /// Waits once. @return TIMEOUT without an event, else the code to record for take()
  using Wait = std::function<nvmlReturn_t(const Library& library, unsigned milliseconds, SeenEvents& seen)>;
  /// @param end  after the last wait, in the same thread
  EventWatch(Nvml& nvml, Wait wait, std::function<void(const Library& library)> end);

  std::shared_ptr<Desk> desk_;
  CallThread::Stuck stuck_;
};

}  // namespace slipway::nvidia::nvml
