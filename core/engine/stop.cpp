// SPDX-License-Identifier: Apache-2.0
#include "core/engine/stop.hpp"

#include <atomic>
#include <csignal>

#include <unistd.h>

namespace slipway::core {
namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int number) {
  if (received.exchange(number) != 0) ::_exit(128 + number);
}

}  // namespace

void watch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

Status stop_requested() {
  if (received.load() == 0) return {};
  return Error{
      ErrorCode::cancelled, "stopped by a signal", {}, "run the same command again: it goes on where this one was", {}};
}

}  // namespace slipway::core
