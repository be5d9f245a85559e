// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/health.hpp"

#include <gmock/gmock.h>

namespace slipway::deviceplugin {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kGpu = "GPU-0";

class Book : public ::testing::Test {
 protected:
  Book() : book_({.quiet_time = seconds(10), .long_quiet_time = seconds(100)}) {}
  void xid(unsigned number, const std::string& place = kGpu) {
    book_.xid(place, nvidia::health::default_rules().xid(number), nvidia::health::default_rules().effect(number), now_);
  }
  /// Records a check in which the GPU answers, after that time.
  void answers(seconds later, std::optional<unsigned> action = std::nullopt) {
    now_ += later;
    book_.checked(kGpu, {.recovery_action = action}, now_);
  }
  void lost() { book_.checked(kGpu, {.answers = false, .why = "the GPU is lost"}, now_); }
  std::string reason() const { return book_.of(kGpu).reason; }

  Moment now_{};
  HealthBook book_;
};

TEST_F(Book, AnApplicationErrorIsNotAFault) {
  for (const unsigned number : {13U, 31U, 43U, 45U, 68U, 109U}) xid(number);
  EXPECT_TRUE(book_.of(kGpu).healthy);
}

TEST_F(Book, RecoversAfterAQuietTimeAndACheck) {
  xid(63);
  EXPECT_EQ(reason(), "xid-63");
  now_ += seconds(20);
  EXPECT_EQ(reason(), "xid-63") << "nobody has looked";
  xid(63);
  answers(seconds(9));
  EXPECT_EQ(reason(), "xid-63") << "the last one is too near";
  answers(seconds(1));
  EXPECT_TRUE(book_.of(kGpu).healthy);
}

TEST_F(Book, AnErrorThatNeedsAResetWaitsForOne) {
  xid(79);
  answers(seconds(50));
  EXPECT_EQ(reason(), "xid-79");
  lost();
  EXPECT_EQ(reason(), "xid-79") << "the first reason stays";
  answers(seconds(1));  // a GPU that answers again was reset
  answers(seconds(10));
  EXPECT_TRUE(book_.of(kGpu).healthy);
}

TEST_F(Book, WaitsLongWithoutAReportedReset) {
  xid(48);
  answers(seconds(99));
  EXPECT_FALSE(book_.of(kGpu).healthy);
  answers(seconds(1));
  EXPECT_TRUE(book_.of(kGpu).healthy);
}

// A driver before branch 570 never reports a GPU's reset: before the fix, the reason and duration of the wait were not
// shown, and its end was called a reset.
TEST_F(Book, SaysUntilWhenItWaitsWhereTheDriverReportsNoReset) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  xid(48);
  EXPECT_THAT(book_.of(kGpu).remedy, Not(HasSubstr("before branch 570"))) << "nobody has looked";
  answers(seconds(1));
  EXPECT_THAT(book_.of(kGpu).remedy, HasSubstr("drivers before branch 570 do not report a reset"));
  const auto shared = book_.shared(kGpu, "GPU 0 (0000:19:00.0)").faults.at(0);
  EXPECT_EQ(shared.ends_at, shared.seen_at + 100);
  EXPECT_THAT(shared.remedy, Not(HasSubstr("UUID")));
  xid(63, "GPU-1");
  EXPECT_THAT(book_.of("GPU-1").remedy, Not(HasSubstr("before branch 570"))) << "it needs no reset";
  answers(seconds(100));
  EXPECT_TRUE(book_.of(kGpu).healthy);
  EXPECT_EQ(book_.shared(kGpu, "GPU 0").ended.at(0).how, "quiet");
  xid(48);
  answers(seconds(1), 0U);
  EXPECT_THAT(book_.of(kGpu).remedy, Not(HasSubstr("before branch 570")));
  answers(seconds(10), 0U);
  EXPECT_EQ(book_.shared(kGpu, "GPU 0").ended.at(0).how, "reset");
}

TEST_F(Book, AKnownResetEndsTheEarlierFaults) {
  now_ += seconds(1);
  const nvidia::health::GpuHealth reset{
      .name = "GPU 0", .faults = {}, .ended = {{.instance = {}, .how = "reset", .when = now_ + seconds(5)}}};
  xid(48);
  xid(94, instance_key(kGpu, 3));
  lost();
  EXPECT_FALSE(book_.was_reset(kGpu, reset)) << "it does not answer";
  answers(seconds(1));
  EXPECT_TRUE(book_.was_reset(kGpu, reset));
  EXPECT_TRUE(book_.of(kGpu).healthy);
  EXPECT_TRUE(book_.of(instance_key(kGpu, 3)).healthy);
  EXPECT_EQ(book_.shared(kGpu, "GPU 0").ended.at(0).how, "reset");
  now_ += seconds(10);
  xid(48);
  answers(seconds(1));
  EXPECT_FALSE(book_.was_reset(kGpu, reset)) << "this one is later";
  EXPECT_EQ(reason(), "xid-48");
}

TEST_F(Book, ADriverThatReportsItsOptionsIsTrusted) {
  answers(seconds(0), 1U);
  EXPECT_EQ(reason(), "recovery-action");
  answers(seconds(500), 1U);
  EXPECT_EQ(reason(), "recovery-action");
  answers(seconds(10), 0U);
  EXPECT_TRUE(book_.of(kGpu).healthy);
}

TEST_F(Book, AGpuThatHangsIsNotReportedAsLost) {
  book_.checked(kGpu, {.answers = false, .hangs = true, .why = "no answer"}, now_);
  EXPECT_EQ(reason(), "hangs");
}

TEST_F(Book, AMissingDriverMakesAllUnhealthyAndKeepsFaults) {
  xid(48);
  book_.driver_gone("the driver is not loaded", now_);
  EXPECT_EQ(book_.of("GPU-7").reason, "driver-gone");
  answers(seconds(1));  // the driver is loaded again, which is a reset
  EXPECT_EQ(reason(), "xid-48");
  EXPECT_TRUE(book_.of("GPU-7").healthy);
  answers(seconds(10));
  EXPECT_TRUE(book_.of(kGpu).healthy);
}

TEST_F(Book, SurvivesARestartOfTheProcess) {
  book_.ecc(kGpu, now_);
  HealthBook other({.quiet_time = seconds(10), .long_quiet_time = seconds(100)});
  other.load({{kGpu, book_.shared(kGpu, "GPU 0")}}, now_);
  EXPECT_EQ(other.of(kGpu), book_.of(kGpu));
  other.checked(kGpu, {}, now_ + seconds(50));
  EXPECT_FALSE(other.of(kGpu).healthy) << "it still needs a reset";
}

// Before the fix, the reason stayed "fell off the bus … reset" while the GPU answered and was on probation.
TEST_F(Book, SaysThatAGpuAnswersAgainWhileItIsOnProbation) {
  book_.checked(kGpu, {.answers = false, .why = "it fell off the bus"}, now_);
  answers(seconds(1));
  EXPECT_EQ(book_.of(kGpu).text, "it answers again, after: it fell off the bus");
  EXPECT_EQ(book_.of(kGpu).remedy.find("reset"), std::string::npos);
  book_.checked(kGpu, {.answers = false, .why = "it fell off the bus"}, now_);
  EXPECT_EQ(book_.of(kGpu).text, "it fell off the bus");
  answers(seconds(1));
  book_.checked(kGpu, {.answers = false}, now_);  // without a reason
  answers(seconds(1));
  EXPECT_EQ(book_.of(kGpu).text.find("it answers again", 1), std::string::npos) << book_.of(kGpu).text;
  answers(seconds(10));
  EXPECT_TRUE(book_.of(kGpu).healthy);
  EXPECT_EQ(book_.shared(kGpu, "GPU 0").ended.at(0).how, "found");
}

TEST_F(Book, CountsAnXidOfAnotherServiceOnce) {
  now_ += seconds(1);
  const auto take = [&](Moment last) {
    return book_.take(kGpu, {.code = "xid-79", .xid = 79, .last = last}, XidEffect::reset,
                      nvidia::health::default_rules(), now_);
  };
  EXPECT_TRUE(take(now_));
  EXPECT_EQ(reason(), "xid-79");
  EXPECT_FALSE(take(now_)) << "it is the same one";
  const Moment seen = now_;
  answers(seconds(1), 0U);
  answers(seconds(100), 0U);
  ASSERT_TRUE(book_.of(kGpu).healthy);
  EXPECT_FALSE(take(seen + seconds(50))) << "it is over";
  EXPECT_TRUE(take(now_ + seconds(1)));
}

// XID 154 reports a changed recovery action of the driver, including that none is needed any more.
TEST_F(Book, JudgesXid154ByItsRecoveryAction) {
  xid(154);
  EXPECT_TRUE(book_.of(kGpu).healthy);
  answers(seconds(0), 2U);
  EXPECT_EQ(book_.of(kGpu).text, "the driver asks for a reboot of the node");
  EXPECT_EQ(book_.of(kGpu).remedy, "drain the node and reboot it");
}

TEST_F(Book, AFaultOfAnInstanceDoesNotAffectTheGpu) {
  const std::string place = instance_key(kGpu, 3);
  xid(94, place);
  EXPECT_TRUE(book_.of(kGpu).healthy);
  EXPECT_TRUE(book_.of(instance_key(kGpu, 30)).healthy);
  EXPECT_EQ(book_.of(place).reason, "xid-94");
  answers(seconds(9));
  EXPECT_EQ(book_.of(place).reason, "xid-94");
  answers(seconds(1));
  EXPECT_TRUE(book_.of(place).healthy);
  xid(94, place);
  book_.forget(kGpu);
  EXPECT_TRUE(book_.of(place).healthy);
}

TEST_F(Book, AnXidThatAnotherOneCancelsEnds) {
  xid(163);
  book_.cancelled(kGpu, 48);
  EXPECT_EQ(reason(), "xid-163");
  book_.cancelled(kGpu, 163);
  EXPECT_TRUE(book_.of(kGpu).healthy);
}

// Upstream's documentation promises that an XID can be enabled alone; its code then checks nothing.
TEST(XidFilter, EnablesOneXidOrAllOfThem) {
  EXPECT_EQ(XidFilter("all", "79", nvidia::health::default_rules()).effect(79), XidEffect::reset);
  EXPECT_EQ(XidFilter("all", "79", nvidia::health::default_rules()).effect(48), XidEffect::none);
  EXPECT_EQ(XidFilter("xids", "", nvidia::health::default_rules()).effect(48), XidEffect::none);
  EXPECT_EQ(XidFilter(" 48 , x", "", nvidia::health::default_rules()).effect(48), XidEffect::none);
  EXPECT_EQ(XidFilter("", "ALL", nvidia::health::default_rules()).effect(31), XidEffect::until_quiet);
  EXPECT_EQ(XidFilter("", "", nvidia::health::default_rules()).effect(31), XidEffect::none);
  EXPECT_EQ(XidFilter("", "", nvidia::health::default_rules()).effect(9999), XidEffect::until_quiet);
}

}  // namespace
}  // namespace slipway::deviceplugin
