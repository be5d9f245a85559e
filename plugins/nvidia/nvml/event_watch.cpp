// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/event_watch.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include <sys/eventfd.h>

#include <slipway/fd.hpp>

namespace slipway::nvidia::nvml {
namespace {

using std::chrono::milliseconds;

constexpr int kInterrupt = SIGURG;        // ignored by default, so a late one does no harm
constexpr std::size_t kMostKept = 256;    // further events stay in the driver until these are taken
constexpr milliseconds kSignalAgain{20};  // the first signal may arrive just before the wait begins
constexpr int kMostSignals = 10;
constexpr milliseconds kEarlyReturnPause{100};

/// An ignored signal does not interrupt a call, so it needs a handler. A handler of the program is kept, and works too.
void have_a_handler() {
  static const bool done = [] {
    struct sigaction now {};
    if (::sigaction(kInterrupt, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return false;
    struct sigaction empty {};
    empty.sa_handler = [](int) {};
    return ::sigaction(kInterrupt, &empty, nullptr) == 0;  // without SA_RESTART: system calls are interrupted
  }();
  (void)done;
}

void free_system_events(const Library& library, nvmlSystemEventSet_t set) {
  nvmlSystemEventSetFreeRequest_t request{.version = NVML_SYSTEM_EVENT_SET_FREE_REQUEST_VERSION, .set = set};
  (void)invoke(library.function<nvmlSystemEventSetFreeRequest_t*>("nvmlSystemEventSetFree"), &request);
}

void unblock_interrupt() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, kInterrupt);
  ::pthread_sigmask(SIG_UNBLOCK, &wanted, nullptr);
}

}  // namespace

/// State shared by the thread and its creator.
struct EventWatch::Desk {
  std::shared_ptr<const Library> library;
  Wait wait;
  std::function<void(const Library&)> end;
  CallThread::Stuck stuck;
  Fd told{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  std::mutex mutex;
  std::condition_variable changed;
  SeenEvents seen;
  bool over = false;       ///< the thread must end
  bool ended = false;      ///< it has
  bool abandoned = false;  ///< no thread waits for it any more
  pthread_t thread{};

  void work() {
    unblock_interrupt();
    std::unique_lock lock(mutex);
    while (!over && seen.ended == NVML_SUCCESS) {
      if (seen.of_gpus.size() + seen.of_driver.size() >= kMostKept) {
        changed.wait(lock);
        continue;
      }
      lock.unlock();
      const auto begin = std::chrono::steady_clock::now();
      SeenEvents fresh;
      const nvmlReturn_t code = wait(*library, static_cast<unsigned>(milliseconds(kSlice).count()), fresh);
      const bool early = std::chrono::steady_clock::now() - begin < kSlice / 2;
      lock.lock();
      if (code == NVML_ERROR_TIMEOUT) {
        if (early && !over) changed.wait_for(lock, kEarlyReturnPause, [this] { return over; });
        continue;
      }
      if (code == NVML_SUCCESS) {
        seen.of_gpus.insert(seen.of_gpus.end(), fresh.of_gpus.begin(), fresh.of_gpus.end());
        seen.of_driver.insert(seen.of_driver.end(), fresh.of_driver.begin(), fresh.of_driver.end());
      } else {
        seen.ended = code;
      }
      (void)::eventfd_write(told.get(), 1);
    }
    lock.unlock();
    end(*library);
    library.reset();  // before the notification: the session may be shut down after it
    lock.lock();
    ended = true;
    if (abandoned) --*stuck;
    changed.notify_all();
  }
};

EventWatch::EventWatch(Nvml& nvml, Wait wait, std::function<void(const Library& library)> end)
    : desk_(std::make_shared<Desk>()), stuck_(nvml.stuck_counter()) {
  desk_->library = nvml.library();
  desk_->wait = std::move(wait);
  desk_->end = std::move(end);
  desk_->stuck = stuck_;
  have_a_handler();
  const SignalsBlocked blocked;
  std::thread thread([desk = desk_] { desk->work(); });
  desk_->thread = thread.native_handle();
  thread.detach();
}

EventWatch::~EventWatch() {
  std::unique_lock lock(desk_->mutex);
  desk_->over = true;
  desk_->changed.notify_all();
  // The number is limited: a library that restarts its full wait after each signal would never end.
  for (int i = 0; i < kMostSignals && !desk_->ended; ++i) {
    ::pthread_kill(desk_->thread, kInterrupt);  // under the lock, so that the thread still exists
    desk_->changed.wait_for(lock, kSignalAgain, [this] { return desk_->ended; });
  }
  // Without a signal the wait ends within this time.
  desk_->changed.wait_for(lock, kSlice + std::chrono::seconds(1), [this] { return desk_->ended; });
  if (desk_->ended) return;
  desk_->abandoned = true;
  ++*stuck_;
}

int EventWatch::fd() const { return desk_->told.get(); }

SeenEvents EventWatch::take() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(desk_->told.get(), &ignored);
  const std::scoped_lock lock(desk_->mutex);
  SeenEvents taken = std::move(desk_->seen);
  desk_->seen = {.of_gpus = {}, .of_driver = {}, .ended = taken.ended};
  desk_->changed.notify_all();
  return taken;
}

std::shared_ptr<EventWatch> EventWatch::of_gpus(Nvml& nvml, const std::shared_ptr<EventSet>& set) {
  const nvmlEventSet_t handle = set->hand_over();
  const auto wait = [handle](const Library& library, unsigned limit, SeenEvents& seen) {
    nvmlEventData_t data{};
    const nvmlReturn_t code = wait_for_event(library, handle, limit, data);
    if (code == NVML_SUCCESS) seen.of_gpus.push_back(data);
    return code;
  };
  const auto end = [handle](const Library& library) {
    (void)invoke(library.function<nvmlEventSet_t>("nvmlEventSetFree"), handle);
  };
  return std::shared_ptr<EventWatch>(new EventWatch(nvml, wait, end));
}

Answer<std::shared_ptr<EventWatch>> EventWatch::of_driver(Nvml& nvml) {
  const auto made = nvml.ask<nvmlSystemEventSet_t>([](const Library& library, nvmlSystemEventSet_t& set) {
    nvmlSystemEventSetCreateRequest_t create{.version = NVML_SYSTEM_EVENT_SET_CREATE_REQUEST_VERSION, .set = nullptr};
    nvmlReturn_t code =
        invoke(library.function<nvmlSystemEventSetCreateRequest_t*>("nvmlSystemEventSetCreate"), &create);
    if (code != NVML_SUCCESS) return code;
    set = create.set;
    nvmlSystemRegisterEventRequest_t wanted{
        .version = NVML_SYSTEM_REGISTER_EVENT_REQUEST_VERSION,
        .eventTypes = NVML_SYSTEM_EVENT_GPU_DRIVER_UNBIND | NVML_SYSTEM_EVENT_GPU_DRIVER_BIND,
        .set = set};
    code = invoke(library.function<nvmlSystemRegisterEventRequest_t*>("nvmlSystemRegisterEvents"), &wanted);
    if (code != NVML_SUCCESS) free_system_events(library, set);
    return code;
  });
  if (!made) return made.code();
  const nvmlSystemEventSet_t set = *made;
  const auto wait = [set](const Library& library, unsigned limit, SeenEvents& seen) {
    std::array<nvmlSystemEventData_v1_t, 16> data{};
    nvmlSystemEventSetWaitRequest_t request{.version = NVML_SYSTEM_EVENT_SET_WAIT_REQUEST_VERSION,
                                            .timeoutms = limit,
                                            .set = set,
                                            .data = data.data(),
                                            .dataSize = static_cast<unsigned>(data.size()),
                                            .numEvent = 0};
    const nvmlReturn_t code =
        invoke(library.function<nvmlSystemEventSetWaitRequest_t*>("nvmlSystemEventSetWait"), &request);
    const std::size_t count = std::min<std::size_t>(request.numEvent, data.size());
    if (code == NVML_SUCCESS) seen.of_driver.assign(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(count));
    return code == NVML_SUCCESS && count == 0 ? static_cast<nvmlReturn_t>(NVML_ERROR_TIMEOUT) : code;
  };
  const auto end = [set](const Library& library) { free_system_events(library, set); };
  return {NVML_SUCCESS, std::shared_ptr<EventWatch>(new EventWatch(nvml, wait, end))};
}

}  // namespace slipway::nvidia::nvml
