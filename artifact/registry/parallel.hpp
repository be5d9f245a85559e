// SPDX-License-Identifier: Apache-2.0
// artifact/registry/parallel.hpp - runs a task for each of several items on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace slipway::artifact {

inline constexpr std::size_t kTransfers = 4;  ///< at a time: enough to use a whole link, few enough for a registry

/// Calls task(i) for each i below `count`, on at most `kTransfers` threads, and waits for all of them. A task that
/// returns false prevents further ones from starting. Rethrows exceptions of a task.
template <class Task>
void for_each_in_parallel(std::size_t count, const Task& task) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  std::exception_ptr problem;
  std::mutex problem_mutex;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count && !stop; i = next++)
        if (!task(i)) stop = true;
    } catch (...) {
      const std::scoped_lock lock(problem_mutex);
      problem = std::current_exception();
      stop = true;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(count, kTransfers); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (problem) std::rethrow_exception(problem);
}

}  // namespace slipway::artifact
