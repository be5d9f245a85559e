// SPDX-License-Identifier: Apache-2.0
// The fate of a change whose GPU is in use.
#include "nvidia/drain/drain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/json.hpp>
#include <slipway/testing/fake_host.hpp>

namespace slipway::nvidia::drain {
namespace {

using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = Outcome::Kind;
using OfEach = std::vector<std::vector<DeviceHolder>>;

DeviceHolder holder() {
  DeviceHolder made;
  made.process.pid = 7;
  made.process.name = "python3";
  made.holds = "1g.10gb at 4";
  return made;
}
const std::vector<DeviceHolder> a_holder{holder()};
const std::vector<DeviceHolder> no_holder;

Drain drain(const Host& host, const Settings& settings, const std::string& target = "7g") {
  return {host, settings, {"gpu-1", target, "GPU 0", "GPU 0 is in use", "spec.components.mig.drain"}};
}

TEST(Drain, AllowsAChangeOfUnusedGpus) {
  const FakeHost host;
  for (const Policy policy : {Policy::fail_fast, Policy::wait, Policy::when_idle, Policy::terminate})
    EXPECT_EQ(drain(host, {.policy = policy}).admit(no_holder)->kind, Kind::done);
}

TEST(Drain, FailsFastWithTheHolders) {
  const FakeHost host;
  const auto admitted = drain(host, {}).admit(a_holder);
  ASSERT_FALSE(admitted.ok());
  EXPECT_EQ(admitted.error().code, ErrorCode::busy);
  EXPECT_EQ(admitted.error().what, "GPU 0 is in use");
  EXPECT_EQ(admitted.error().where, "spec.components.mig.drain = fail-fast");
  EXPECT_THAT(admitted.error().details, ElementsAre(std::pair("held", "python3 (pid 7) on 1g.10gb at 4")));
}

TEST(Drain, WaitsUntilTheDeadlineFromApplyToApply) {
  FakeHost host;
  const Settings settings{.policy = Policy::wait, .deadline = std::chrono::seconds(3600)};
  const auto first = drain(host, settings).admit(a_holder);
  ASSERT_EQ(first->kind, Kind::waiting);
  EXPECT_THAT(first->reason, HasSubstr("GPU 0 is in use; it waits since "));
  EXPECT_THAT(first->reason, HasSubstr("for 1h at most"));
  EXPECT_THAT(first->holders, ElementsAre("python3 (pid 7) on 1g.10gb at 4"));
  EXPECT_EQ(drain(host, settings).admit(a_holder)->reason, first->reason) << "since the first time";

  // The machine has been running for longer than a second, which is this deadline.
  host.file("/run/slipway/drain/gpu-1.json", R"({"boottime": 0, "change": "7g", "since": "2026-01-01 00:00 UTC"})");
  const Settings impatient{.policy = Policy::wait, .deadline = std::chrono::seconds(1)};
  const auto late = drain(host, impatient).admit(a_holder);
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().what,
              HasSubstr("it waits since 2026-01-01 00:00 UTC, which is longer than the deadline of 1s"));
  EXPECT_EQ(drain(host, settings, "3g").admit(a_holder)->kind, Kind::waiting) << "another change waits from now on";
  drain(host, settings).over();
  EXPECT_FALSE(host.exists("/run/slipway/drain/gpu-1.json"));
}

TEST(Drain, BeginsToWaitAgainWhereItsRecordIsNoise) {
  for (const char* noise : {"", "[]", "{}", R"({"boottime": -5, "change": "7g", "since": "x"})",
                            R"({"boottime": 99999999999999, "change": "7g", "since": "x"})",
                            R"({"boottime": "0", "change": "7g", "since": "x"})"}) {
    FakeHost host;
    host.file("/run/slipway/drain/gpu-1.json", noise);
    EXPECT_EQ(drain(host, {.policy = Policy::wait, .deadline = std::chrono::hours(1)}).admit(a_holder)->kind,
              Kind::waiting)
        << noise;
  }
}

TEST(Drain, WaitsWithoutEndForAnIdleGpu) {
  FakeHost host;
  host.file("/run/slipway/drain/gpu-1.json", R"({"boottime": 0, "change": "7g", "since": "2026-01-01 00:00 UTC"})");
  const auto admitted = drain(host, {.policy = Policy::when_idle}).admit(a_holder);
  ASSERT_EQ(admitted->kind, Kind::waiting);
  EXPECT_EQ(admitted->reason, "GPU 0 is in use; it waits since 2026-01-01 00:00 UTC");
}

TEST(Drain, LeavesAChangeToTheNextBoot) {
  FakeHost host;
  const Settings settings{.policy = Policy::next_boot};
  EXPECT_EQ(drain(host, settings).admit(no_holder)->kind, Kind::reboot_required);
  host.at_boot();
  EXPECT_EQ(drain(host, settings).admit(no_holder)->kind, Kind::done);
  EXPECT_FALSE(drain(host, settings).admit(a_holder).ok());
}

TEST(Drain, NamesAnUnstoppableHolderBeforeAnyChange) {
  const FakeHost host;
  const Drain change = drain(host, {.policy = Policy::terminate});
  const auto cleared = Drain::clear({&change}, [] { return OfEach{a_holder}; });
  for (const Error& refused : {change.admit(a_holder).error(), cleared.error()}) {
    ASSERT_EQ(refused.details.size(), 1U);
    EXPECT_THAT(refused.details[0].second,
                HasSubstr("python3 (pid 7) on 1g.10gb at 4: it is not a process that slipway can see on this machine"));
  }
}

TEST(Drain, ClearsSeveralChangesAndNamesTheOneThatIsInTheWay) {
  const FakeHost host;
  const Settings settings{.policy = Policy::terminate};
  const Drain idle = drain(host, settings);
  const Drain busy(host, settings, {"gpu-2", "7g", "GPU 1", "GPU 1 is in use", "spec.components.mig.drain"});
  const auto cleared = Drain::clear({&idle, &busy}, [] { return OfEach{no_holder, a_holder}; });
  ASSERT_FALSE(cleared.ok());
  EXPECT_EQ(cleared.error().what, "GPU 1 is in use");
  const auto free = Drain::clear({&idle, &busy}, [] { return OfEach{no_holder, no_holder}; });
  ASSERT_TRUE(free.ok());
  EXPECT_EQ(free->size(), 2U);
}

// Before the fix, three thousand processes with a device open made an apply print three thousand lines.
TEST(Drain, NamesTheFirstHoldersAndCountsTheOthers) {
  const FakeHost host;
  std::vector<DeviceHolder> many(3000, holder());
  for (unsigned i = 0; i < many.size(); ++i) many[i].process.pid = i + 100000000;  // more than the kernel returns
  const Drain waits = drain(host, {.policy = Policy::when_idle});
  const auto waiting = waits.admit(many);
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(waiting->holders.size(), 17U);
  for (const Policy policy : {Policy::fail_fast, Policy::terminate}) {
    const Drain change = drain(host, {.policy = policy});
    const auto cleared = Drain::clear({&change, &change}, [&] { return OfEach{many, many}; });
    ASSERT_FALSE(cleared.ok());
    EXPECT_THAT(to_text(cleared.error()), HasSubstr("2984 more"));
    EXPECT_LE(cleared.error().details.size(), 34U);
  }
}

TEST(Drain, EndsNoProcessForAChangeAtTheNextBoot) {
  const FakeHost host;
  const Drain change = drain(host, {.policy = Policy::next_boot});
  const auto cleared = Drain::clear({&change}, [] {
    ADD_FAILURE() << "who holds it makes no difference";
    return OfEach{a_holder};
  });
  ASSERT_TRUE(cleared.ok());
  EXPECT_EQ(cleared->front().kind, Kind::reboot_required);
}

}  // namespace
}  // namespace slipway::nvidia::drain
