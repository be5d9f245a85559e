// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <slipway/service_loop.hpp>

namespace slipway {
namespace {

using std::chrono::milliseconds;

class Silent final : public ServiceIo {
 public:
  void ready() override {}
  void status(std::string_view) override {}
  void reasons(const std::vector<std::string>&) override {}
  void log(std::string_view, std::string_view) override {}
  void alive() override { ++alive_count; }
  std::optional<milliseconds> alive_every() const override { return every; }
  std::atomic<int> alive_count{0};
  std::optional<milliseconds> every;
};

/// A loop in a thread of its own, with a record of its calls.
class ServiceLoopTest : public ::testing::Test {
 protected:
  void start(std::optional<milliseconds> interval) {
    work_.interval = interval;
    work_.pass = [this] {
      ++passes;
      if (drains) drains();
      return fail ? Status(Error{.code = ErrorCode::io, .what = "told to fail"}) : Status();
    };
    work_.release = [this] { ++release; };
    work_.while_quiet = [this] { ++quiet_rounds; };
    work_.descriptors = [this] { return descriptors; };
    if (asks_for_next) work_.next = [this] { return ++asked_for_next, next; };
    thread_ = std::jthread([this](const std::stop_token& stop) {
      result = loop.run(stop, io, work_);
      ended = true;
    });
  }
  template <class Condition>
  static bool soon(const Condition& holds) {
    for (int i = 0; i < 2000 && !holds(); ++i) std::this_thread::sleep_for(milliseconds(5));
    return holds();
  }
  void stop() { thread_.request_stop(), thread_.join(); }

  std::atomic<int> passes{0};
  std::atomic<int> release{0};
  std::atomic<int> quiet_rounds{0};
  std::atomic<bool> fail{false};
  std::atomic<bool> ended{false};
  Status result;
  Silent io;
  ServiceLoop loop;
  // Before start():
  std::vector<int> descriptors;
  std::function<void()> drains;
  bool asks_for_next = false;
  std::optional<ServiceLoop::Clock::time_point> next;
  std::atomic<int> asked_for_next{0};

 private:
  ServiceLoop::Work work_;
  std::jthread thread_;
};

TEST_F(ServiceLoopTest, PassesAtOnceThenAfterEachIntervalAndReleasesAtItsEnd) {
  start(milliseconds(5));
  EXPECT_TRUE(soon([&] { return passes >= 3; }));
  stop();
  EXPECT_TRUE(result);
  EXPECT_EQ(release, 1);
}

TEST_F(ServiceLoopTest, WithoutAnIntervalPassesOnlyWhenWoken) {
  start(std::nullopt);
  ASSERT_TRUE(soon([&] { return passes == 1; }));
  loop.wake();
  EXPECT_TRUE(soon([&] { return passes == 2; }));
}

TEST_F(ServiceLoopTest, ReportsToTheWatchdogAsOftenAsRequested) {
  io.every = milliseconds(5);
  start(std::nullopt);
  EXPECT_TRUE(soon([&] { return io.alive_count >= 3; }));
  EXPECT_EQ(passes, 1);
}

// Before the fix, the loop woke itself and the listening process once a second, although no program had requested that.
TEST_F(ServiceLoopTest, ReportsNothingWithoutAWatchdog) {
  start(milliseconds(1));
  ASSERT_TRUE(soon([&] { return passes >= 50; }));
  stop();
  EXPECT_EQ(io.alive_count, 0);
}

// The service checks the unit's grants when it reports that it is alive: a reloaded driver has other nodes.
TEST_F(ServiceLoopTest, ReportsToTheWatchdogAfterAnEvent) {
  start(std::nullopt);
  ASSERT_TRUE(soon([&] { return passes == 1; }));
  loop.wake();
  EXPECT_TRUE(soon([&] { return io.alive_count == 1; }));
}

TEST_F(ServiceLoopTest, PassesAtOnceWhenADescriptorCanBeRead) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  char byte = 0;
  drains = [&] { return ::read(ends[0], &byte, 1); };
  descriptors = {-1, ends[0]};
  start(std::nullopt);
  ASSERT_TRUE(soon([&] { return passes == 1; }));
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_TRUE(soon([&] { return passes == 2; }));
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_TRUE(soon([&] { return passes == 3; }));
  stop();
  for (const int end : ends) ::close(end);
}

TEST_F(ServiceLoopTest, AsksAfterEachPassWhenTheNextOneIsDue) {
  asks_for_next = true;
  next = ServiceLoop::Clock::now();
  start(std::chrono::hours(1));
  EXPECT_TRUE(soon([&] { return passes >= 3; }));
  stop();
  EXPECT_EQ(asked_for_next, passes);
}

TEST_F(ServiceLoopTest, IsNotPassedAgainWhileNothingIsDue) {
  asks_for_next = true;
  start(milliseconds(1));
  ASSERT_TRUE(soon([&] { return asked_for_next == 1; }));
  loop.wake();
  ASSERT_TRUE(soon([&] { return asked_for_next == 2; }));
  stop();
  EXPECT_EQ(passes, 2);
}

TEST_F(ServiceLoopTest, MakesNoPassFromQuiesceToResume) {
  start(milliseconds(1));
  ASSERT_TRUE(soon([&] { return passes > 0; }));
  ASSERT_TRUE(loop.quiesce());
  EXPECT_EQ(release, 1);
  const int before = passes;
  EXPECT_TRUE(soon([&] { return quiet_rounds > 0; }));
  EXPECT_EQ(passes, before);
  ASSERT_TRUE(loop.quiesce()) << "asked again, it is quiet already";
  ASSERT_TRUE(loop.resume());
  EXPECT_TRUE(soon([&] { return passes > before; }));
}

TEST_F(ServiceLoopTest, EndsWithTheErrorOfAPassAndIsThenNotToBeQuiesced) {
  fail = true;
  start(milliseconds(1));
  ASSERT_TRUE(soon([&] { return ended.load(); }));
  EXPECT_EQ(result.error().what, "told to fail");
  EXPECT_EQ(loop.quiesce().error().code, ErrorCode::cancelled);
}

TEST_F(ServiceLoopTest, StopsWhileQuiescedWithoutReleasingTwice) {
  start(milliseconds(1));
  ASSERT_TRUE(soon([&] { return passes > 0; }));
  ASSERT_TRUE(loop.quiesce());
  stop();
  EXPECT_TRUE(result);
  EXPECT_EQ(release, 1);
}

}  // namespace
}  // namespace slipway
