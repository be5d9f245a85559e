// SPDX-License-Identifier: Apache-2.0
// The costs of a call of the real driver: processor time, wall time and memory.
#include <ctime>

#include <sys/mman.h>

#include "sim/nvml/call.hpp"

namespace slipway::sim {
namespace {

constexpr std::int64_t kNsPerUs = 1000;
constexpr std::int64_t kOwnNs = 3000;  // time of the simulator's locks, file locks and clocks for one call
constexpr std::int64_t kNsPerSecond = 1000000000;

void* kept_memory = nullptr;
std::size_t kept_size = 0;

/// nvmlShutdown() does not free the memory; unloading the library does.
__attribute__((destructor)) void give_memory_back() {
  if (kept_memory != nullptr) munmap(kept_memory, kept_size);
}

std::int64_t time_of(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

}  // namespace

void take_time(const Cost& cost) {
  const std::int64_t processor_ns = cost.processor_us * kNsPerUs;
  const std::int64_t wall_ns = cost.wall_us * kNsPerUs;
  const std::int64_t wall_end = time_of(CLOCK_MONOTONIC) + wall_ns - kOwnNs;
  if (processor_ns > kOwnNs) {
    const std::int64_t end = time_of(CLOCK_THREAD_CPUTIME_ID) + processor_ns - kOwnNs;
    while (time_of(CLOCK_THREAD_CPUTIME_ID) < end) continue;
  }
  if (wall_ns <= processor_ns) return;
  const timespec until{wall_end / kNsPerSecond, wall_end % kNsPerSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) continue;
}

std::uint32_t keep_memory(std::uint32_t kib) {
  constexpr std::size_t kPage = 4096;
  const std::size_t size = std::size_t{kib} * 1024;
  if (size == 0) return 0;
  const std::int64_t begin = time_of(CLOCK_THREAD_CPUTIME_ID);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  for (std::size_t at = 0; at < size; at += kPage) static_cast<volatile char*>(memory)[at] = 1;
  kept_memory = memory;
  kept_size = size;
  return static_cast<std::uint32_t>((time_of(CLOCK_THREAD_CPUTIME_ID) - begin) / kNsPerUs);
}

}  // namespace slipway::sim
