// SPDX-License-Identifier: Apache-2.0
#include "mig/config/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "products.hpp"

namespace slipway::mig {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// The profile ids of NVML, which the tables of the other tests do not need.
Gpu with_selectors(Gpu gpu) {
  for (InstanceProfile& each : gpu.profiles)
    each.selector = each.id == 19 ? 0 : each.id == 9 ? 2 : each.id == 0 ? 4 : each.id + 100;
  return gpu;
}

Gpu h100_with_a_3g() {
  const Gpu gpu = with_selectors(h100());
  return with(gpu, {GpuInstance{.start = 0, .profile_id = 9, .compute = {{0, 2}, {2, 1}}}, whole(gpu, "3g.40gb", 4)});
}

TEST(MigCheckpoint, IsOneLineInUpstreamsForm) {
  Gpu disabled = with_selectors(h100());
  disabled.uuid = "GPU-1";
  disabled.enabled = false;
  EXPECT_EQ(
      checkpoint_text({h100_with_a_3g(), disabled}),
      R"({"Version":"v1","MigState":{"Devices":[{"UUID":"GPU-0","MigMode":1,"GpuInstances":[)"
      R"({"ProfileID":2,"Placement":{"Start":0,"Size":4},"ComputeInstances":[{"ProfileID":1,"EngProfileID":0},)"
      R"({"ProfileID":0,"EngProfileID":0}]},)"
      R"({"ProfileID":2,"Placement":{"Start":4,"Size":4},"ComputeInstances":[{"ProfileID":2,"EngProfileID":0}]}]},)"
      R"({"UUID":"GPU-1","MigMode":0,"GpuInstances":null}]}})");
}

TEST(MigCheckpoint, IsReadBack) {
  const Gpu before = h100_with_a_3g();
  const auto intents = intents_of_checkpoint(checkpoint_text({before}), "file", {with(before, {})});
  ASSERT_TRUE(intents.ok()) << intents.error().what;
  ASSERT_EQ(intents->size(), 1U);
  EXPECT_EQ(intents->front().target.instances, before.instances);
  EXPECT_FALSE(intents->front().holds());
  EXPECT_TRUE(intents_of_checkpoint(checkpoint_text({before}), "file", {before})->front().holds());
}

TEST(MigCheckpoint, IsRefusedOnAnotherMachine) {
  const Gpu gpu = with_selectors(h100());
  const auto what = [&](const std::string& text) {
    const auto intents = intents_of_checkpoint(text, "file", {gpu});
    EXPECT_FALSE(intents.ok()) << text;
    return intents ? std::string() : intents.error().what;
  };
  const auto device = [](const std::string& instances, const std::string& uuid = "GPU-0") {
    return R"({"Version":"v1","MigState":{"Devices":[{"UUID":")" + uuid + R"(","MigMode":1,"GpuInstances":)" +
           instances + "}]}}";
  };
  EXPECT_THAT(what(""), HasSubstr("it is not JSON"));
  EXPECT_THAT(what("{}"), HasSubstr("not a checkpoint"));
  EXPECT_THAT(what(R"({"Version":"v2"})"), HasSubstr("version"));
  EXPECT_THAT(what(device("null", "GPU-7")), HasSubstr("GPU-7 of the checkpoint is not on this machine"));
  const auto instance = [&](const std::string& profile, const std::string& start, const std::string& compute) {
    return device(R"([{"ProfileID":)" + profile + R"(,"Placement":{"Start":)" + start +
                  R"(,"Size":4},"ComputeInstances":)" + compute + "}]");
  };
  EXPECT_THAT(what(instance("3", "0", "[]")), HasSubstr("no profile of GPU instances"));
  EXPECT_THAT(what(instance("2", "2", "[]")), HasSubstr("cannot have the 3g.40gb at 2"));
  EXPECT_THAT(what(instance("2", "-1", "[]")), HasSubstr("cannot have"));
  EXPECT_THAT(what(instance("2", "0", R"([{"ProfileID":4}])")), HasSubstr("cannot have"));
  EXPECT_THAT(what(instance("2", "0", R"([{"ProfileID":99}])")), HasSubstr("cannot have"));
  EXPECT_THAT(what(instance("2", "0", R"([{"ProfileID":2},{"ProfileID":0}])")), HasSubstr("cannot have"));
  EXPECT_THAT(what(instance("\"2\"", "0", "[]")), HasSubstr("not a checkpoint"));
}

}  // namespace
}  // namespace slipway::mig
