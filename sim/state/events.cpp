// SPDX-License-Identifier: Apache-2.0
#include "sim/state/events.hpp"

#include <cerrno>
#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nvidia/nvml/abi/event.h"

namespace slipway::sim {
namespace {

// By the driver of the nvml.h that first has a name for them. On an H100 with driver 580 they add up to 0xff9f.
constexpr std::uint64_t kOfAllDrivers =
    NVML_EVENT_PSTATE | NVML_EVENT_XID_CRITICAL_ERROR | NVML_EVENT_CLOCK | NVML_EVENT_POWER_SOURCE_CHANGE;
constexpr std::uint64_t kEcc = NVML_EVENT_SINGLE_BIT_ECC_ERROR | NVML_EVENT_DOUBLE_BIT_ECC_ERROR;
constexpr std::uint64_t kEccOf560 = NVML_EVENT_SINGLE_BIT_ECC_ERROR_STORM | NVML_EVENT_DRAM_RETIREMENT_EVENT |
                                    NVML_EVENT_DRAM_RETIREMENT_FAILURE | NVML_EVENT_NON_FATAL_POISON_ERROR |
                                    NVML_EVENT_FATAL_POISON_ERROR;
constexpr std::uint64_t kEventsSince570 = NVML_EVENT_GPU_UNAVAILABLE_ERROR | NVML_EVENT_GPU_RECOVERY_ACTION;

void keep(Machine& machine, Event event) {
  event.number = ++machine.last_event;
  event.gpu_instance = event.compute_instance = NVML_NO_INSTANCE;
  machine.events[event.number % kMaxEvents] = event;
  note_change(machine);
}

}  // namespace

void note_change(Machine& machine) {
  __atomic_add_fetch(&machine.changes, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &machine.changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool wait_for_change_since(const Machine& machine, std::uint32_t seen, const timespec* deadline) {
  // Not FUTEX_WAIT_PRIVATE: the waker is another process, which maps the file at another address.
  const long done =
      syscall(SYS_futex, &machine.changes, FUTEX_WAIT_BITSET, seen, deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
  return done == 0 || (errno != ETIMEDOUT && errno != EINTR);
}

timespec deadline_after(std::uint32_t milliseconds) {
  constexpr long kNsPerSecond = 1000000000;
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += milliseconds / 1000;
  time.tv_nsec += static_cast<long>(milliseconds % 1000) * 1000000;
  if (time.tv_nsec >= kNsPerSecond) ++time.tv_sec, time.tv_nsec -= kNsPerSecond;
  return time;
}

std::uint64_t supported_events(const Machine& machine, const Gpu& gpu) {
  std::uint64_t types = kOfAllDrivers;
  if (gpu.model.mig.capable != 0) types |= NVML_EVENT_MIG_CONFIG_CHANGE;
  if (gpu.model.ecc != 0) types |= machine.driver_branch >= 560 ? kEcc | kEccOf560 : kEcc;
  if (machine.driver_branch >= 570) types |= kEventsSince570;
  return types;
}

void add_event(Machine& machine, unsigned gpu, std::uint64_t type, std::uint64_t data) {
  if ((supported_events(machine, machine.gpus[gpu]) & type) == 0) return;
  keep(machine, {.type = type, .data = data, .gpu = gpu});
}

void add_system_event(Machine& machine, unsigned gpu, std::uint64_t type) {
  keep(machine, {.type = type, .system = 1, .gpu = gpu});
}

}  // namespace slipway::sim
