// SPDX-License-Identifier: Apache-2.0
// The effects of the spec, its variables and its config file on the GPUs, in the plan and in the running service.
#include "tests/component/deviceplugin/node.hpp"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

TEST(DevicePluginService, EndsWithoutADriverAtItsStartOnRequest) {
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
  EXPECT_THAT(service.log(), HasSubstr("the GPUs cannot be queried"));
}

TEST(DevicePluginService, UsesTheVariablesOfItsSpec) {
  const Node node("h100x2");
  node.spec(
      "{env: {DP_DISABLE_HEALTHCHECKS: all, DEVICE_LIST_STRATEGY: volume-mounts, "
      "KUBELET_SOCKET: /var/lib/kubelet/device-plugins/k.sock}}");
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

// Before the fix, the message had only the variable's name.
TEST(DevicePluginPlan, ShowsTheLineOfAnInvalidVariable) {
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

TEST(DevicePluginService, AReloadKeepsUnchangedResourcesRegistered) {
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
  EXPECT_TRUE(eventually([&] {
    return node.status().value("formerResources", Json::array()) == Json::array({"nvidia.com/mig-3g.20gb"});
  })) << node.status();
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

TEST(DevicePluginPlan, ExplainsTheLimitsOfTimeSlicing) {
  const Node node("h100x8", "{config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}}");
  const auto plan = node.host().slipway(node.words("plan"));
  EXPECT_THAT(plan.out + plan.err, HasSubstr("time-slicing does not divide the memory")) << plan.code;
}

// The daemons are units in the slice: removing it ends them, a restart of the service does not.
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

TEST(DevicePluginPlan, RefusesAnInvalidTime) {
  for (const std::string seconds : {"-1", "86401"}) {
    const Node node("h100x8", "{quiet_seconds: " + seconds + "}");
    const auto plan = node.host().slipway(node.words("plan"));
    EXPECT_EQ(plan.code, 1);
    EXPECT_THAT(plan.out + plan.err, HasSubstr("quiet_seconds is " + seconds));
  }
}

std::string shared(const std::string& entry, const std::string& kind = "timeSlicing") {
  return "version: v1\nsharing:\n  " + kind + ":\n    resources:\n    - " + entry + "\n";
}

// Before the fix, plan and apply reported nothing, and the service then offered no GPU.
TEST(DevicePluginPlan, RefusesAConfigThatThisMachineCannotOffer) {
  const Node node("h100x8", "{config_file: /etc/dp.yaml}");
  for (const auto& [config, what] :
       {std::pair{shared("{name: nvidia.com/gpu, replicas: 16384}"), "131072 replicas of nvidia.com/gpu are more"},
        {shared("{name: nvidia.com/gpu, devices: [\"9\"], replicas: 2}"), "nvidia.com/gpu has no device 9"},
        {shared("{name: nvidia.com/gpu, devices: 9, replicas: 2}"), "sharing 9 devices of nvidia.com/gpu, which has 8"},
        {shared("{name: nvidia.com/gpu, replicas: 60}", "mps"), "takes at most 48 MPS clients, not 60"}}) {
    node.host().put("etc/dp.yaml", config);
    const auto plan = node.host().slipway(node.words("plan"));
    EXPECT_EQ(plan.code, 1) << config;
    EXPECT_THAT(plan.out + plan.err, ::testing::AllOf(HasSubstr(what), HasSubstr("/etc/dp.yaml:5:7"))) << config;
    const auto verify = node.host().slipway(node.words("verify"));
    EXPECT_EQ(verify.code, 1);
    EXPECT_THAT(verify.out, HasSubstr("deviceplugin.config: the service cannot offer what the config says"));
    EXPECT_THAT(verify.out, HasSubstr(what));
  }
  // In the host spec itself.
  node.spec(
      "\n      config:\n        version: v1\n        sharing:\n          timeSlicing:\n            replicas: 16384");
  const auto plan = node.host().slipway(node.words("plan"));
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out + plan.err,
              ::testing::ContainsRegex("host.yaml:[0-9]+:[0-9]+  spec.components.deviceplugin.config"));
}

// Before the fix, errors in an inline config pointed at the line of `config:`.
TEST(DevicePluginPlan, NamesTheLineOfAnErrorInAnInlineConfig) {
  const Node node("h100x2");
  const auto plan_of = [&](const std::string& replicas) {
    node.spec(
        "\n      config:\n        version: v1\n        sharng: {}\n        sharing:\n          timeSlicing:\n"
        "            replicas: " +
        replicas);
    const auto plan = node.host().slipway(node.words("plan"));
    return plan.out + plan.err;
  };
  const std::string config = "spec.components.deviceplugin.config.";
  EXPECT_THAT(plan_of("2"),
              HasSubstr("host.yaml:9:9  " + config + "sharng: unknown key 'sharng', ignored; did you mean"));
  EXPECT_THAT(plan_of("x"), HasSubstr("host.yaml:12:13  " + config + "sharing.timeSlicing.replicas"));
}

// A lost GPU is not a mistake in the config.
TEST(DevicePluginPlan, NotesTheMissingResourcesOfALostGpu) {
  const Node node("h100x4", "{config_file: /etc/dp.yaml}");
  node.host().put("etc/dp.yaml", shared("{name: nvidia.com/gpu, devices: [\"1\"], rename: a, replicas: 2}"));
  ASSERT_EQ(node.host().slipway(node.words("plan")).code, 2);
  node.sim("gpu 1 lost");
  const auto plan = node.host().slipway(node.words("plan"));
  EXPECT_EQ(plan.code, 2) << plan.out << plan.err;
  EXPECT_THAT(plan.out + plan.err, HasSubstr("nvidia.com/gpu has no device 1: GPU 1 ("));
}

// Before the fix, a wrong number in the config of a running service removed all GPUs from kubelet.
TEST(DevicePluginService, KeepsItsConfigWhereTheNewOneCannotBeOfferedOnThisMachine) {
  const Node node("h100x4", "{config_file: /etc/dp.yaml}");
  node.host().put("etc/dp.yaml", shared("{name: nvidia.com/gpu, replicas: 2}"));
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  node.host().put("etc/dp.yaml", shared("{name: nvidia.com/gpu, replicas: 30000}"));
  EXPECT_TRUE(eventually([&] {
    return service.log().find("the previous configuration stays in use: /etc/dp.yaml:5:7: 120000 replicas") !=
           std::string::npos;
  })) << service.log();
  EXPECT_EQ(kubelet.healthy(kGpu), 8U);
  node.host().put("etc/dp.yaml", shared("{name: nvidia.com/gpu, devices: [\"0\", \"8\"], replicas: 4}"));
  EXPECT_TRUE(eventually([&] { return service.log().find("has no device 8") != std::string::npos; })) << service.log();
  EXPECT_EQ(kubelet.healthy(kGpu), 8U);
  node.host().put("etc/dp.yaml", shared("{name: nvidia.com/gpu, replicas: 4}"));
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 16; })) << service.log();
}

// Before the fix, with "nvidia.com/gpu has no device 1", none of the four GPUs was offered after a boot.
TEST(DevicePluginService, OffersTheOtherGpusWhenOneIsLostAtTheStart) {
  const Node node("h100x4", R"({config: {version: v1, sharing: {timeSlicing: {resources: [
    {name: nvidia.com/gpu, rename: nvidia.com/gpu-0, devices: ["0"], replicas: 8},
    {name: nvidia.com/gpu, rename: nvidia.com/gpu-1, devices: ["1"], replicas: 8}]}}}})");
  ASSERT_EQ(node.host().slipway(node.words("plan")).code, 2) << "the simulated machine is there";
  node.sim("gpu 1 lost");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/gpu-0") == 8; })) << service.log();
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  EXPECT_TRUE(eventually([&] { return kubelet.of("nvidia.com/gpu-1").registrations == 1; })) << service.log();
  EXPECT_EQ(kubelet.capacity("nvidia.com/gpu-1"), 0U);
  EXPECT_TRUE(eventually([&] { return !node.status().is_discarded() && node.status().contains("problem"); }));
  EXPECT_THAT(node.status()["problem"].get<std::string>(), HasSubstr("nvidia.com/gpu has no device 1: GPU 1 ("));
  node.sim("gpu 1 found");
  EXPECT_TRUE(eventually([&] { return kubelet.capacity("nvidia.com/gpu-1") == 8; })) << service.log();
  EXPECT_TRUE(eventually([&] { return node.status()["problem"] == ""; })) << node.status().dump(1);
}

// Before the fix, containerd could not create the container: "lstat /dev/nvidia1: no such file".
TEST(DevicePluginService, PassesTheNodesThatAreBelowTheDriversRoot) {
  const Node node("h100x2", "{driver_root: /drv, config: {version: v1, flags: {plugin: {passDeviceSpecs: true}}}}");
  for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1"})
    node.host().put("drv/dev/" + std::string(name), "");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  const auto allocated = kubelet.allocate(kGpu, 1);
  ASSERT_TRUE(allocated.status.ok()) << allocated.status.error_message();
  std::map<std::string, std::string> nodes;
  for (const auto& device : allocated.response.devices()) nodes[device.container_path()] = device.host_path();
  EXPECT_EQ(nodes["/dev/nvidiactl"], "/drv/dev/nvidiactl");
  EXPECT_EQ(nodes["/dev/nvidia-uvm"], "/drv/dev/nvidia-uvm");
  EXPECT_FALSE(nodes.contains("/dev/nvidia-uvm-tools")) << "it is missing";
  EXPECT_EQ(nodes.size(), 3U);
}

TEST(DevicePluginService, TakesEveryNodeFromNvidiaDevRoot) {
  const Node node("h100x2", "{config: {version: v1, flags: {nvidiaDevRoot: /nodes, plugin: {passDeviceSpecs: true}}}}");
  for (const char* name : {"nvidiactl", "nvidia-uvm-tools"}) node.host().put("nodes/dev/" + std::string(name), "");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  const auto allocated = kubelet.allocate(kGpu, 1);
  ASSERT_TRUE(allocated.status.ok()) << allocated.status.error_message();
  for (const auto& device : allocated.response.devices())
    EXPECT_EQ(device.host_path(), "/nodes" + device.container_path());
  EXPECT_EQ(allocated.response.devices_size(), 3);
}

TEST(DevicePluginPlan, RefusesAWrongConfigWithItsPlace) {
  const Node node("h100x8", "{config_file: /etc/dp.yaml}");
  node.host().put("etc/dp.yaml", "version: v1\nflags:\n  migStrategy: both\n");
  const auto plan = node.host().slipway(node.words("plan"));
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out + plan.err, HasSubstr("/etc/dp.yaml:3:16"));
}

}  // namespace
}  // namespace slipway::testing
