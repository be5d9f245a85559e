// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/event_watch.hpp - NVML's events without asking for them: a thread waits, a descriptor tells.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "nvidia/nvml/event.hpp"

namespace slipway::nvidia::nvml {

/// What a watch has seen since it was last asked.
struct SeenEvents {
  std::vector<nvmlEventData_t> of_gpus;
  std::vector<nvmlSystemEventData_v1_t> of_driver;  ///< it was bound to a GPU, or unbound
  /// Not SUCCESS: the wait has ended, and a new watch is needed. GPU_IS_LOST: one of the GPUs is gone, and NVML does
  /// not say which.
  nvmlReturn_t ended = NVML_SUCCESS;
};

/// Waits in a thread of its own until it ends. While nothing happens that thread wakes once in kSlice.
///
/// Its end interrupts the wait by a signal (SIGURG, to that thread alone): NVML's waits return early "when an interrupt
/// arrives". A driver that does not would keep the end waiting for the rest of a slice. A wait that does not come back
/// at all counts as a stuck call of its Nvml, which then is not shut down. Ends before its Nvml's release().
class EventWatch {
 public:
  /// Short enough for those who wait for the end of it where a signal does not help, as for a quiesced service; long
  /// enough to be a fifth of a wake-up a second.
  static constexpr std::chrono::seconds kSlice{5};

  /// For the events of this set, to which its GPUs were added before.
  static std::shared_ptr<EventWatch> of_gpus(Nvml& nvml, const std::shared_ptr<EventSet>& set);
  /// For drivers that are bound and unbound. Answers `absent()` where the library cannot tell: before R575.
  static Answer<std::shared_ptr<EventWatch>> of_driver(Nvml& nvml);

  ~EventWatch();
  EventWatch(const EventWatch&) = delete;
  EventWatch& operator=(const EventWatch&) = delete;

  /// Can be read when take() has something.
  int fd() const;
  /// Takes what there is; does not wait.
  SeenEvents take();

 private:
  struct Desk;
  /// One wait: @return TIMEOUT when nothing happened, else what goes to the desk
  using Wait = std::function<nvmlReturn_t(const Library& library, unsigned milliseconds, SeenEvents& seen)>;
  /// @param end  after the last wait, in the same thread
  EventWatch(Nvml& nvml, Wait wait, std::function<void(const Library& library)> end);

  std::shared_ptr<Desk> desk_;
  CallThread::Stuck stuck_;
};

}  // namespace slipway::nvidia::nvml
