// SPDX-License-Identifier: Apache-2.0
// The effect of a signal on a program that watches for it, each in a process of its own.
#include "core/engine/stop.hpp"

#include <csignal>
#include <functional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slipway::core {
namespace {

constexpr int kFinished = 7;

/// Runs it in a child. @return the exit status, or 128 + the signal that ended it
int ended(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(kFinished);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void finish_when_stopped() {
  if (!check_not_stopped()) ::_exit(kFinished);
}

TEST(Stop, IsRequestedByTermIntAndHangup) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    EXPECT_EQ(ended([&] {
                watch_stop_signals();
                ::raise(number);
                finish_when_stopped();
                ::_exit(0);
              }),
              kFinished)
        << number;
}

TEST(Stop, IsImmediateWithASecondSignal) {
  EXPECT_EQ(ended([] {
              watch_stop_signals();
              for (;;) ::raise(SIGTERM);
            }),
            128 + SIGTERM);
}

// A terminal that closes signals its group and its shell, which signals its jobs: before the fix, the latter counted as
// a second signal.
TEST(Stop, IsRequestedOnceByTwoSignalsThatComeTogether) {
  EXPECT_EQ(ended([] {
              watch_stop_signals();
              ::raise(SIGHUP);
              ::raise(SIGHUP);
              finish_when_stopped();
            }),
            kFinished);
}

TEST(Stop, EndsTheProcessAfterItsTimeLimit) {
  EXPECT_EQ(ended([] {
              watch_stop_signals(std::chrono::seconds(1));
              ::raise(SIGTERM);
              for (;;) ::pause();
            }),
            128 + SIGTERM);
}

TEST(Stop, KeepsAnIgnoredHangupIgnored) {
  EXPECT_EQ(ended([] {
              ::signal(SIGHUP, SIG_IGN);
              watch_stop_signals();
              ::raise(SIGHUP);
              if (check_not_stopped()) ::_exit(kFinished);
              ::_exit(0);
            }),
            kFinished);
}

TEST(Stop, IsNotRequestedByAReaderThatGoesAway) {
  EXPECT_EQ(ended([] {
              watch_stop_signals();
              ::raise(SIGPIPE);
              if (check_not_stopped()) ::_exit(kFinished);
              ::_exit(0);
            }),
            kFinished);
}

}  // namespace
}  // namespace slipway::core
