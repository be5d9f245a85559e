// SPDX-License-Identifier: Apache-2.0
// GPUs and drivers that fail, degrade or come back under the running service.
#include "tests/component/deviceplugin/node.hpp"
#include "tests/component/service/http_client.hpp"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(DevicePluginService, MarksALostGpuUntilItAnswersAgain) {
  const Node node("h100x8", "{quiet_seconds: 1}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  node.sim("gpu 3 lost");
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
  EXPECT_EQ(kubelet.capacity(kGpu), 8U);
  EXPECT_TRUE(kubelet.allocate(kGpu, 7).status.ok()) << "a lost GPU harms no other pod";
  EXPECT_TRUE(eventually([&] { return node.status()["gpus"][3]["health"]["reason"] == "lost"; }));
  node.sim("gpu 3 found");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
}

// Before the fix, the specs followed the health that kubelet gets: a GPU lost after an XID was never left out, a GPU
// that answered again was missing until it was trusted, and without health checks the specs did not change.
TEST(DevicePluginService, RequestsCdiSpecsWhenAGpuStopsOrStartsAnswering) {
  for (const char* section : {"{quiet_seconds: 3600}", "{quiet_seconds: 3600, env: {DP_DISABLE_HEALTHCHECKS: all}}"}) {
    SCOPED_TRACE(section);
    const Node node("h100x8", section);
    std::filesystem::create_directories(node.host().path("etc/systemd/system"));
    std::ofstream(node.host().path("etc/systemd/system/slipway-cdi-refresh.path")) << "\n";
    const auto request = node.host().path("run/slipway/cdi-refresh");
    const Kubelet kubelet(node.plugins());
    RunningService service(node.host(), node.words());
    ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
    node.sim("gpu 3 xid 79");
    ASSERT_TRUE(eventually([&] { return service.log().find("XID 79") != std::string::npos; })) << service.log();
    EXPECT_FALSE(std::filesystem::exists(request)) << "an error alone changes no spec";
    for (const char* change : {"gpu 3 lost", "gpu 3 found", "driver unloaded", "driver loaded"}) {
      node.sim(change);
      if (std::string_view(change) == "driver unloaded") {
        ASSERT_TRUE(eventually([&] { return service.log().find("cannot be queried") != std::string::npos; }));
        continue;
      }
      EXPECT_TRUE(eventually([&] { return std::filesystem::exists(request); })) << change << "\n" << service.log();
      std::filesystem::remove(request);
    }
  }
}

// Before the fix, kubelet got the GPU back after a reset, while dcgm, doctor and top reported "bad, reset the GPU" for
// a day.
TEST(DevicePluginService, AgreesWithDcgmOnFaultsAndTheirEnd) {
  const Node node("h100x8,driver=580.82.07", "{quiet_seconds: 1}\n    dcgm: {listen: \"127.0.0.1:" +
                                                 std::to_string(free_port()) + "\", interval: 1s}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  auto dcgm_words = node.words();
  dcgm_words[1] = "dcgm";
  RunningService dcgm(node.host(), dcgm_words);
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  const auto file = [&] { return Json::parse(node.host().text("run/slipway/health.json"), nullptr, false); };
  const auto has_part = [&](const char* name) {
    const Json now = file();
    return now.is_object() && now["services"].contains(name);
  };
  ASSERT_TRUE(eventually([&] { return has_part("deviceplugin") && has_part("dcgm"); })) << dcgm.log();
  const auto doctor = [&] { return node.host().slipway(node.words("doctor")).out; };
  node.sim("gpu 3 recovery 1");
  node.sim("gpu 3 xid 79");
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
  ASSERT_TRUE(eventually([&] {
    return doctor().find("dcgm.health: GPU 3 (0000:5d:00.0): XID 79") != std::string::npos;
  })) << doctor();
  node.sim("gpu 3 reset");
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  EXPECT_TRUE(eventually([&] { return doctor().find("fail  dcgm.health") == std::string::npos; })) << doctor();
  EXPECT_TRUE(eventually([&] { return file()["services"]["dcgm"].empty(); })) << file().dump(2);
}

// Driver 535 does not report a reset, and the services have released the GPU during the reset: before the fix, no
// service noticed it.
TEST(DevicePluginService, RecognizesAResetByPause) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may pause services";
  const Node node("h100x8", "{quiet_seconds: 3600}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  node.sim("gpu 3 xid 48");
  const auto remedy = [&] {
    const Json status = node.status();
    return status.is_object() ? status["gpus"][3]["health"].value("remedy", "") : "";
  };
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
  EXPECT_TRUE(
      eventually([&] { return remedy().find("before branch 570 do not report a reset") != std::string::npos; }));
  EXPECT_THAT(remedy(), HasSubstr("`slipway pause -- nvidia-smi -r -i 0000:5d:00.0` has reset the GPU"));
  const std::string program = node.host().folder().at("nvidia-smi").string();
  std::ofstream(program) << "#!/bin/sh\nexec " SLIPWAY_SIM_PROGRAM " " << node.host().path("run/slipway/sim").string()
                         << " gpu 3 reset\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto paused = node.host().bare({"pause", "--live", "--root", node.host().folder().at("root").string(), "--",
                                        program, "-r", "-i", "0000:5d:00.0"});
  ASSERT_EQ(paused.code, 0) << paused.err;
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  const auto ended = [&] {
    const Json file = Json::parse(node.host().text("run/slipway/health.json"), nullptr, false);
    const std::string all = file.is_object() ? file["services"]["deviceplugin"].dump() : "";
    return all.find("\"how\":\"reset\"") != std::string::npos;
  };
  EXPECT_TRUE(eventually(ended)) << node.host().text("run/slipway/health.json");
}

TEST(DevicePluginStatus, NamesEveryUnhealthyGpuAndTheReason) {
  const Node node("h100x8", "{quiet_seconds: 3}");
  const Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  const auto seen = [&] {
    return Json::parse(node.host().slipway({"status", "-o", "json"}).out)["components"]["deviceplugin"]["service"];
  };
  ASSERT_TRUE(eventually([&] { return seen()["status"] == "8 of 8 GPUs healthy, nvidia.com/gpu registered"; }));
  EXPECT_EQ(seen()["state"], "working");
  EXPECT_TRUE(seen()["reasons"].empty()) << seen();
  // After an XID the GPU becomes healthy again within three seconds, so the XID is repeated until the change is seen.
  EXPECT_TRUE(eventually([&] {
    node.sim("gpu 3 xid 63");
    const Json reasons = seen()["reasons"];
    if (reasons.size() != 1) return false;
    const auto reason = reasons[0].get<std::string>();
    return reason.starts_with("GPU 3") && reason.find("is unhealthy") != std::string::npos &&
           reason.find("63") != std::string::npos;
  })) << seen();
  EXPECT_TRUE(eventually([&] { return seen()["reasons"].empty(); })) << seen();
  node.sim("gpu 4 lost");
  node.sim("gpu 5 lost");
  ASSERT_TRUE(eventually([&] { return seen()["reasons"].size() == 2; })) << seen();
  EXPECT_THAT(
      node.host().slipway({"status"}).out,
      AllOf(HasSubstr("working: 6 of 8 GPUs healthy"), ContainsRegex("\n +GPU 4 \\("), ContainsRegex("\n +GPU 5 \\(")));
  node.sim("gpu 5 found");
  EXPECT_TRUE(eventually([&] { return seen()["reasons"].size() == 1; })) << seen();
}

TEST(DevicePluginService, RemembersALostGpuAfterARestart) {
  const Node node("h100x8", "{quiet_seconds: 1}");
  Kubelet kubelet(node.plugins());
  {
    RunningService service(node.host(), node.words());
    ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
    node.sim("gpu 3 lost");
    ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
  }  // killed
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
  EXPECT_EQ(kubelet.capacity(kGpu), 8U) << "it is still there, and unhealthy";
}

TEST(DevicePluginService, KeepsTheMigDevicesAfterARestartWithoutADriver) {
  const Node node("a100-40x2,mig=1g.5gb", "{quiet_seconds: 1, config: {version: v1, mig: {strategy: mixed}}}");
  Kubelet kubelet(node.plugins());
  {
    RunningService service(node.host(), node.words());
    ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-1g.5gb") == 14; })) << service.log();
    node.sim("driver unloaded");
    ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-1g.5gb") == 0; })) << service.log();
  }
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.of("nvidia.com/mig-1g.5gb").registrations == 2; })) << service.log();
  EXPECT_TRUE(eventually([&] { return kubelet.capacity("nvidia.com/mig-1g.5gb") == 14; })) << service.log();
  EXPECT_EQ(kubelet.healthy("nvidia.com/mig-1g.5gb"), 0U);
  EXPECT_FALSE(kubelet.resources().contains(kGpu));
}

TEST(DevicePluginService, XidsOfTheGpuMarkItButApplicationErrorsDoNot) {
  const Node node("h100x8", "{quiet_seconds: 6}");  // long enough to be seen on a slow machine
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  node.sim("gpu 1 xid 31");
  node.sim("gpu 2 xid 63");
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
  // The status file is written a moment after kubelet gets the list.
  EXPECT_TRUE(eventually([&] { return node.status()["gpus"][2]["health"]["reason"] == "xid-63"; }));
  EXPECT_EQ(node.status()["gpus"][1]["health"]["healthy"], true);
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << "quiet for a while, and it answers";
}

// Before the fix, the XID that ends another one made the GPU unhealthy.
TEST(DevicePluginService, AnXidThatCancelsAnotherOneRestoresTheGpuAtOnce) {
  const Node node("h100x8", "{quiet_seconds: 600}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  node.sim("gpu 2 xid 163");
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
  node.sim("gpu 2 xid 162");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
}

TEST(DevicePluginService, AHangingGpuIsMarkedWhileTheOthersAreAllocated) {
  const Node node("h100x4", "{quiet_seconds: 1}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 4; })) << service.log();
  node.sim("gpu 0 hang");
  // No event reports a GPU that hangs: a check every ten seconds calls it, and gives up after five seconds.
  const auto is_marked = [&] { return kubelet.healthy(kGpu) == 3; };
  ASSERT_TRUE(eventually(is_marked) || eventually(is_marked)) << service.log();
  EXPECT_TRUE(kubelet.allocate(kGpu, 3).status.ok());
  node.sim("gpu 0 resume");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 4; })) << service.log();
}

// Before the fix, an apply during the quiet seconds ended with "deviceplugin: failed", for a GPU that was about to be
// offered again.
TEST(DevicePluginVerify, OnlyWarnsOfAGpuThatWaitsForItsQuietTime) {
  const Node node("h100x2", "{quiet_seconds: 3600}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  const auto verify = [&] { return node.host().slipway(node.words("verify")).out; };
  node.sim("gpu 1 lost");
  ASSERT_TRUE(eventually([&] { return verify().find("fail  deviceplugin.health: GPU 1") != std::string::npos; }));
  node.sim("gpu 1 found");
  EXPECT_TRUE(eventually([&] { return verify().find("warning  deviceplugin.health: GPU 1") != std::string::npos; }))
      << verify();
  EXPECT_THAT(verify(), HasSubstr("it is offered again when no new fault has come for 3600 s"));
}

// Before the fix, `status` counted 7 of 7 with eight on the bus, and top had two rows with the number 1.
TEST(DevicePluginService, CountsAndNamesAGpuThatTheDriverDoesNotShow) {
  const Node node("h100x4", "{quiet_seconds: 1}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 4; })) << service.log();
  node.sim("gpu 1 remove");
  const auto status = [&] { return node.host().slipway({"status"}).out; };
  EXPECT_TRUE(eventually([&] { return status().find("working: 3 of 4 GPUs healthy") != std::string::npos; }))
      << status();
  EXPECT_THAT(status(), HasSubstr("exists, but the driver does not show it"));
  const std::string verify = node.host().slipway(node.words("verify")).out;
  EXPECT_THAT(verify, HasSubstr("fail  deviceplugin.health: GPU 1 ("));
  EXPECT_THAT(verify, Not(HasSubstr("reset the GPU"))) << "nvidia-smi finds no such GPU";
  node.sim("gpu 1 restore");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 4; })) << service.log();
}

// Before the fix, `status` did not mention a MIG layout that a user had changed.
TEST(DevicePluginService, SaysThatAnotherProgramHasChangedTheMigLayout) {
  const Node node("a100-40x4,mig=1g.5gb",
                  "{quiet_seconds: 1, config: {version: v1, mig: {strategy: mixed}}}\n    mig: {config: all-1g.5gb}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-1g.5gb") == 28; })) << service.log();
  const auto status = [&] { return node.host().slipway({"status"}).out; };
  EXPECT_THAT(status(), Not(HasSubstr("another program has changed")));
  node.sim("gpu 2 mig off");
  EXPECT_TRUE(eventually([&] {
    return status().find("another program has changed the MIG layout of GPU 2 (") != std::string::npos;
  })) << status()
      << service.log();
  const std::string doctor = node.host().slipway(node.words("doctor")).out;
  EXPECT_THAT(doctor, HasSubstr("leads to deviceplugin.mig")) << "it comes of mig.layout";
}

TEST(DevicePluginService, SurvivesAReloadOfTheDriver) {
  const Node node("h100x2", "{quiet_seconds: 1}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  node.sim("driver unloaded");
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 0; })) << service.log();
  EXPECT_EQ(kubelet.capacity(kGpu), 2U);
  node.sim("driver loaded");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
}

TEST(DevicePluginService, AnUnhealthyGpuMakesAllItsReplicasUnhealthy) {
  const Node node("h100x4", R"({quiet_seconds: 60, config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}})");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 16; })) << service.log();
  node.sim("gpu 2 xid 79");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 12; })) << service.log();
}

TEST(DevicePluginService, AnUnhealthyGpuMakesAllItsMigDevicesUnhealthy) {
  const Node node("a100-40x4,mig=1g.5gb", R"({quiet_seconds: 60, config: {version: v1, mig: {strategy: mixed}}})");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-1g.5gb") == 28; })) << service.log();
  node.sim("gpu 1 ecc-uncorrected 1");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-1g.5gb") == 21; })) << service.log();
}

}  // namespace
}  // namespace slipway::testing
