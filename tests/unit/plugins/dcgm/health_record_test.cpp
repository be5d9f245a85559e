// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "dcgm/health/record.hpp"

namespace slipway::dcgm {
namespace {

using namespace nvidia::health;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kGpu = "GPU-0";

class Record : public ::testing::Test {
 protected:
  void xid(unsigned number, std::optional<unsigned> instance = {}) {
    record_.xid(kGpu, instance, number, rules_, now_);
  }
  void value(const char* rule, double value) { record_.value(kGpu, rules_.counters().at(rule), value, now_); }
  void looked(std::chrono::milliseconds later, bool answers = true) {
    now_ += later;
    record_.looked(kGpu, answers, rules_, now_);
  }
  std::string codes() const {
    std::string all;
    for (const Reason& reason : record_.of(kGpu))
      all += (all.empty() ? "" : " ") + reason.code + (reason.instance ? "/" + std::to_string(*reason.instance) : "");
    return all;
  }

  Rules rules_ = default_rules();
  HealthRecord::Moment now_{};
  HealthRecord record_;
};

TEST_F(Record, HoldsFaultsWithTheWorstFirst) {
  xid(13);
  xid(63);
  xid(79);
  EXPECT_EQ(codes(), "xid-79 xid-63");
  EXPECT_EQ(record_.of(kGpu).front().text, "XID 79: the GPU has fallen off the bus");
  EXPECT_TRUE(record_.of("GPU-1").empty());
}

TEST_F(Record, CountsAnEventForTheInstanceThatItNamesUnlessItIsAboutTheGpu) {
  xid(94, 3);
  xid(95, 3);
  EXPECT_EQ(codes(), "xid-95 xid-94/3");
}

TEST_F(Record, EndsWithAResetOrWithTime) {
  xid(63);
  looked(minutes(9));
  EXPECT_EQ(codes(), "xid-63");
  looked(minutes(1));
  EXPECT_EQ(codes(), "");
  xid(79);
  looked(hours(1));
  EXPECT_EQ(codes(), "xid-79");
  looked(seconds(1), false);
  EXPECT_EQ(codes(), "xid-79");
  looked(seconds(1));
  EXPECT_EQ(codes(), "") << "it was away and answers again";
}

TEST_F(Record, EndsWithAnXidThatCancels) {
  xid(163);
  EXPECT_EQ(codes(), "xid-163");
  xid(162);
  EXPECT_EQ(codes(), "");
}

TEST_F(Record, TakesAValueAboveItsLimitOnlyAfterAWhile) {
  value("hot", 90);
  looked(minutes(4));
  value("hot", 90);
  EXPECT_EQ(codes(), "");
  looked(minutes(1));
  value("hot", 91);
  EXPECT_EQ(codes(), "hot");
  looked(hours(48));
  EXPECT_EQ(codes(), "hot") << "time does not end what a counter says";
  value("hot", 85);
  EXPECT_EQ(codes(), "");
}

TEST_F(Record, TakesTheGrowthOfACounterWithinItsWindow) {
  value("ecc-uncorrectable", 7);
  EXPECT_EQ(codes(), "") << "what was there before";
  looked(minutes(1));
  value("ecc-uncorrectable", 8);
  EXPECT_EQ(codes(), "ecc-uncorrectable");
  looked(minutes(61));
  value("ecc-uncorrectable", 8);
  looked(minutes(61));
  value("ecc-uncorrectable", 8);
  EXPECT_EQ(codes(), "");
  value("ecc-uncorrectable", 0);
  EXPECT_EQ(codes(), "") << "it began anew with another driver";
}

// Before the fix, a finding remained for a day although the rule that caused it was corrected.
TEST_F(Record, DropsFaultsThatCorrectedRulesIgnore) {
  xid(79);
  xid(63);
  value("hot", 90);
  looked(minutes(5));
  value("hot", 90);
  EXPECT_EQ(codes(), "xid-79 hot xid-63");
  ASSERT_TRUE(rules_.add("version: v1\nxids: {79: {severity: application}, 63: {severity: fatal, what: other words}}\n",
                         "site.yaml"));
  looked(seconds(1));
  EXPECT_EQ(codes(), "xid-63 hot");
  EXPECT_EQ(record_.of(kGpu).front().text, "XID 63: other words");
  record_.only(kGpu, {"hot-memory"});
  EXPECT_EQ(codes(), "xid-63") << "nobody looks at its counter any more";
}

// Before the fix, severity and words followed corrected rules, but scope and GPU instance kept their old values.
TEST_F(Record, FollowsTheScopeOfCorrectedRules) {
  xid(94, 3);
  ASSERT_TRUE(rules_.add("version: v1\nxids: {94: {scope: gpu}}\n", "site.yaml"));
  looked(seconds(1));
  EXPECT_EQ(codes(), "xid-94");
  EXPECT_EQ(record_.of(kGpu).front().scope, Scope::gpu);
  xid(94, 5);
  EXPECT_EQ(codes(), "xid-94") << "the same reason, once";
  rules_ = default_rules();
  looked(seconds(1));
  EXPECT_EQ(codes(), "xid-94/5");
  EXPECT_LE(record_.of(kGpu).front().scope, Scope::mig);
}

TEST_F(Record, EndsFaultsThatAnotherServiceSawEnd) {
  const GpuHealth other{.name = "GPU 0", .faults = {}, .ended = {{{}, "reset", now_ + seconds(1)}}};
  xid(79);
  record_.end(kGpu, other);
  EXPECT_EQ(codes(), "");
  now_ += seconds(2);
  xid(79);
  record_.end(kGpu, other);
  EXPECT_EQ(codes(), "xid-79") << "this one is later than the reset";
}

TEST_F(Record, IsAlwaysLimited) {
  for (unsigned number = 0; number < 5000; ++number) {
    now_ += seconds(1);
    xid(10'000 + number);
    value("pcie-replays", number * 1000.0);
  }
  EXPECT_LE(record_.of(kGpu).size(), 257U);
}

}  // namespace
}  // namespace slipway::dcgm
