// SPDX-License-Identifier: Apache-2.0
// What the spec, its variables and its config file make of the GPUs, in the plan and in the running service.
#include "tests/component/deviceplugin/node.hpp"

namespace slipway {
namespace {

using slipway::testing::eventually;
using slipway::testing::kGpu;
using slipway::testing::Kubelet;
using slipway::testing::Node;
using slipway::testing::RunningService;
using ::testing::HasSubstr;

TEST(DevicePluginService, EndsWithoutADriverAtItsStartWhereItIsToldTo) {
  const Node node("h100x2");
  Kubelet kubelet(node.plugins());
  {
    RunningService service(node.host(), node.words());
    ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  }
  node.sim("driver unloaded");
  node.spec("{env: {FAIL_ON_INIT_ERROR: \"true\"}}");
  RunningService service(node.host(), node.words());
  EXPECT_EQ(service.exit_code(), 1);
  EXPECT_THAT(service.log(), HasSubstr("the GPUs cannot be asked"));
}

TEST(DevicePluginService, TakesTheVariablesOfItsSpec) {
  const Node node("h100x2");
  node.spec("{env: {DP_DISABLE_HEALTHCHECKS: all, DEVICE_LIST_STRATEGY: volume-mounts, KUBELET_SOCKET: " +
            node.plugins() + "/k.sock}}");
  Kubelet kubelet(node.plugins());
  std::filesystem::rename(node.plugins() + "/kubelet.sock", node.plugins() + "/k.sock");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  const auto allocated = kubelet.allocate(kGpu, 1);
  ASSERT_TRUE(allocated.status.ok()) << allocated.status.error_message();
  EXPECT_EQ(allocated.response.mounts_size(), 1);
  node.sim("gpu 1 xid 63");
  ASSERT_TRUE(eventually([&] { return service.log().find("XID 63") != std::string::npos; }));
  node.sim("gpu 1 lost");
  ASSERT_TRUE(eventually([&] { return !node.status().is_discarded(); }));
  EXPECT_EQ(node.status()["gpus"][1]["health"]["healthy"], true);
  EXPECT_EQ(kubelet.healthy(kGpu), 2);
}

// The message had the variable's name alone.
TEST(DevicePluginPlan, ShowsTheLineOfAVariableThatIsWrong) {
  const Node node("h100x2");
  for (const char* variable : {"MIG_STRATEGY: some", "KUBELET_SOCKET: k.sock"}) {
    const std::string name = std::string(variable).substr(0, std::string(variable).find(':'));
    node.spec(std::string("\n      env:\n        GDS_ENABLED: \"true\"\n        ") + variable);
    const auto ran = node.host().slipway(node.words("plan"));
    EXPECT_NE(ran.code, 0);
    EXPECT_THAT(ran.out + ran.err,
                ::testing::ContainsRegex("host.yaml:[0-9]+:9  spec.components.deviceplugin.env." + name))
        << ran.out << ran.err;
  }
}

TEST(DevicePluginService, AReloadChangesWhatChangedAndLeavesTheRestRegistered) {
  const Node node("a100-40x8,mig=3g.20gb/2g.10gb", R"({config: {version: v1, mig: {strategy: mixed}}})");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-2g.10gb") == 8; })) << service.log();
  ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-3g.20gb") == 8; })) << service.log();
  node.spec(R"({config: {version: v1, mig: {strategy: mixed},
    sharing: {timeSlicing: {resources: [{name: nvidia.com/mig-2g.10gb, replicas: 4}]}}}})");
  service.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-2g.10gb") == 32; })) << service.log();
  EXPECT_EQ(kubelet.of("nvidia.com/mig-3g.20gb").registrations, 1U);
  EXPECT_EQ(kubelet.of("nvidia.com/mig-2g.10gb").registrations, 1U);
  EXPECT_EQ(kubelet.healthy("nvidia.com/mig-3g.20gb"), 8U);
}

TEST(DevicePluginService, ReadsAChangedConfigFileByItselfAndKeepsTheLastGoodOne) {
  const Node node("h100x8", "{config_file: /etc/dp.yaml}");
  node.host().put("etc/dp.yaml", "version: v1\nsharing:\n  timeSlicing:\n    replicas: 128\n");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 1024; })) << service.log();
  node.host().put("etc/dp.yaml", "version: v1\nsharing:\n  timeSlicing:\n    replicas: four\n");
  ASSERT_TRUE(eventually([&] { return service.log().find("dp.yaml:4:15") != std::string::npos; })) << service.log();
  EXPECT_EQ(kubelet.healthy(kGpu), 1024U);
  node.host().put("etc/dp.yaml", "version: v1\nsharing:\n  timeSlicing:\n    replicas: 2\n");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 16; })) << service.log();
  EXPECT_EQ(kubelet.of(kGpu).registrations, 1U);
}

TEST(DevicePluginService, FollowsAMigLayoutThatChanges) {
  const Node node("a100-40x2,mig=3g.20gb", "{config: {version: v1, mig: {strategy: mixed}}}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-3g.20gb") == 4; })) << service.log();
  node.sim("gpu all mig off");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  EXPECT_TRUE(eventually([&] { return kubelet.capacity("nvidia.com/mig-3g.20gb") == 0; }))
      << "withdrawn, and not left for kubelet's five minutes";
}

TEST(DevicePluginService, LeavesTheGpusOfAnotherManagerAlone) {
  const Node node("h100x8", R"({managers: {"0000:18:00.0": dra}})");
  const auto apply = node.host().slipway(node.words("apply"));
  ASSERT_EQ(apply.code, 0) << apply.err;
  EXPECT_THAT(node.host().text("etc/slipway/gpu-managers.json"), HasSubstr("\"0000:18:00.0\": \"dra\""));
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
}

TEST(DevicePluginPlan, SaysWhatTimeSlicingDoesNotProtectFrom) {
  const Node node("h100x8", "{config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}}");
  const auto plan = node.host().slipway(node.words("plan"));
  EXPECT_THAT(plan.out + plan.err, HasSubstr("time-slicing does not divide the memory")) << plan.code;
}

// The daemons are units of their own in it: removed, it takes them along, while a restart of the service does not.
TEST(DevicePluginPlan, MpsDaemonsHaveASliceForAsLongAsTheyAreWanted) {
  const Node node("h100x2", "{config: {version: v1, sharing: {mps: {replicas: 4}}}}");
  const auto slice = node.host().path("etc/systemd/system/slipway-mps.slice");
  const auto with = node.host().slipway(node.words("apply"));
  ASSERT_EQ(with.code, 0) << with.out << with.err;
  EXPECT_TRUE(std::filesystem::exists(slice));
  EXPECT_THAT(node.host().slipway(node.words("apply")).out, HasSubstr("Nothing to do"));
  node.spec("{config: {version: v1}}");
  const auto without = node.host().slipway(node.words("apply"));
  ASSERT_EQ(without.code, 0) << without.out << without.err;
  EXPECT_FALSE(std::filesystem::exists(slice));
}

TEST(DevicePluginPlan, RefusesATimeThatIsNone) {
  for (const std::string seconds : {"-1", "86401"}) {
    const Node node("h100x8", "{quiet_seconds: " + seconds + "}");
    const auto plan = node.host().slipway(node.words("plan"));
    EXPECT_EQ(plan.code, 1);
    EXPECT_THAT(plan.out + plan.err, HasSubstr("quiet_seconds is " + seconds));
  }
}

TEST(DevicePluginPlan, RefusesAWrongConfigWithItsPlace) {
  const Node node("h100x8", "{config_file: /etc/dp.yaml}");
  node.host().put("etc/dp.yaml", "version: v1\nflags:\n  migStrategy: both\n");
  const auto plan = node.host().slipway(node.words("plan"));
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out + plan.err, HasSubstr("/etc/dp.yaml:3:16"));
}

}  // namespace
}  // namespace slipway
