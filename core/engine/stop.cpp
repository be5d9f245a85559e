// SPDX-License-Identifier: Apache-2.0
#include "core/engine/stop.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <unistd.h>

namespace slipway::core {
namespace {

// timeout(1) signals its process and then the group. A user does not press a key again so soon.
constexpr std::int64_t kSameRequestNs = 200'000'000;

std::atomic<int> received{0};
std::atomic<bool> stopping{false};
std::atomic<std::int64_t> received_at_ns{0};
unsigned stop_limit_s = 0;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int number) {
  const int reason = errno;
  int none = 0;
  if (received.compare_exchange_strong(none, number)) {
    received_at_ns.store(now_ns());
    stopping.store(true);
    ::alarm(stop_limit_s);
  } else if (number == SIGHUP && none == SIGHUP) {
    // A closing terminal signals its group and its shell, and the shell signals its jobs: these are one request.
  } else if (const std::int64_t first = received_at_ns.load(); first != 0 && now_ns() - first > kSameRequestNs) {
    ::_exit(128 + number);
  }
  errno = reason;
}

void on_deadline(int) { ::_exit(128 + received.load()); }

}  // namespace

void watch_stop_signals(std::chrono::seconds limit) {
  stop_limit_s = static_cast<unsigned>(limit.count());
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = on_deadline;
  ::sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = on_signal;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
}

Status check_not_stopped() {
  if (received.load() == 0) return {};
  return Error{ErrorCode::cancelled, "stopped by a signal", {}, "run the same command again", {}};
}

const std::atomic<bool>& stop_flag() { return stopping; }

}  // namespace slipway::core
