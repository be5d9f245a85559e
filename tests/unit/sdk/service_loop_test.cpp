// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include <gmock/gmock.h>

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
  std::atomic<int> alive_count{0};
};

/// A loop in a thread of its own, and what it did.
class ServiceLoopTest : public ::testing::Test {
 protected:
  void start(std::optional<milliseconds> interval) {
    work_.interval = interval;
    work_.pass = [this] {
      ++passes;
      return fail ? Status(Error{.code = ErrorCode::io, .what = "told to fail"}) : Status();
    };
    work_.release = [this] { ++release; };
    work_.while_quiet = [this] { ++quiet_rounds; };
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

 private:
  ServiceLoop::Work work_;
  std::jthread thread_;
};

TEST_F(ServiceLoopTest, PassesAtOnceThenAfterEachIntervalAndLetsGoAtItsEnd) {
  start(milliseconds(5));
  EXPECT_TRUE(soon([&] { return passes >= 3; }));
  stop();
  EXPECT_TRUE(result);
  EXPECT_EQ(release, 1);
}

TEST_F(ServiceLoopTest, WithoutAnIntervalPassesOnlyWhenWokenAndSaysThatItLives) {
  start(std::nullopt);
  EXPECT_TRUE(soon([&] { return io.alive_count >= 2; }));
  EXPECT_EQ(passes, 1);
  loop.wake();
  EXPECT_TRUE(soon([&] { return passes == 2; }));
}

TEST_F(ServiceLoopTest, StandsStillFromQuiesceToResume) {
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

TEST_F(ServiceLoopTest, StopsWhileItStandsStillWithoutLettingGoTwice) {
  start(milliseconds(1));
  ASSERT_TRUE(soon([&] { return passes > 0; }));
  ASSERT_TRUE(loop.quiesce());
  stop();
  EXPECT_TRUE(result);
  EXPECT_EQ(release, 1);
}

}  // namespace
}  // namespace slipway
