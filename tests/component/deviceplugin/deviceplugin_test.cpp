// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/worker.hpp"
#include "tests/component/deviceplugin/node.hpp"

namespace slipway {
namespace {

using slipway::testing::Control;
using slipway::testing::eventually;
using slipway::testing::Kubelet;
using slipway::testing::Node;
using slipway::testing::RunningService;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr const char* kGpu = "nvidia.com/gpu";

TEST(DevicePluginService, OffersEightGpusAndHandsThemOutOneByOne) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  EXPECT_TRUE(kubelet.options_of(kGpu).get_preferred_allocation_available());
  EXPECT_FALSE(kubelet.options_of(kGpu).pre_start_required());
  std::set<std::string> given;
  for (int i = 0; i < 8; ++i) {
    const auto allocated = kubelet.allocate(kGpu, 1);
    ASSERT_TRUE(allocated.status.ok()) << allocated.status.error_message();
    EXPECT_EQ(allocated.response.envs().at("NVIDIA_VISIBLE_DEVICES"), allocated.ids[0]);
    given.insert(allocated.ids[0]);
  }
  EXPECT_EQ(given.size(), 8U);
  const auto devices = kubelet.of(kGpu).devices;
  ASSERT_EQ(devices.begin()->second.topology().nodes_size(), 1);
}

// --root: an image's absolute links are its own, and led the service to files and sockets of the machine.
TEST(DevicePluginService, FollowsLinksInsideItsRoot) {
  const Node node("h100x8");
  const auto& host = node.host();
  std::filesystem::remove_all(host.path("var/lib/kubelet"));
  std::filesystem::create_directories(host.path("srv/kubelet/device-plugins"));
  std::filesystem::create_directories(host.path("run/slipway"));
  std::filesystem::create_directories(host.path("srv/shown"));
  std::filesystem::create_symlink("/srv/kubelet", host.path("var/lib/kubelet"));
  std::filesystem::create_symlink("/srv/shown", host.path("run/slipway/deviceplugin"));
  Kubelet kubelet(host.path("srv/kubelet/device-plugins").string());
  RunningService service(host, node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  EXPECT_TRUE(eventually([&] { return std::filesystem::is_regular_file(host.path("srv/shown/status.json")); }));
  EXPECT_FALSE(std::filesystem::exists("/srv/shown"));
}

TEST(DevicePluginService, RegistersAgainWheneverKubeletRestarts) {
  const Node node("h100x8");
  auto kubelet = std::make_unique<Kubelet>(node.plugins());
  RunningService service(node.host(), node.words());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(eventually([&] { return kubelet->healthy(kGpu) == 8; })) << "restart " << i << "\n" << service.log();
    kubelet.reset();
    kubelet = std::make_unique<Kubelet>(node.plugins());
  }
  EXPECT_TRUE(eventually([&] { return kubelet->healthy(kGpu) == 8; })) << service.log();
}

// What gRPC says of a bind(2) that fails filled the log, and the next try was up to half a minute later.
TEST(DevicePluginService, SaysThatKubeletHasNotRunYetAndRegistersOnceItHas) {
  const Node node("h100x8");
  std::filesystem::remove_all(node.host().path("var/lib/kubelet"));
  RunningService service(node.host(), node.words());
  const std::string folder = "var/lib/kubelet/device-plugins is not there";
  ASSERT_TRUE(eventually([&] { return service.log().find(folder) != std::string::npos; })) << service.log();
  EXPECT_TRUE(eventually(
      [&] { return node.host().text("run/slipway/deviceplugin/status.json").find(folder) != std::string::npos; }));
  EXPECT_THAT(service.log(), ::testing::Not(HasSubstr("gRPC")));
  std::filesystem::create_directories(node.plugins());
  Kubelet kubelet(node.plugins());
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
}

TEST(DevicePluginService, ComesBackWhenItsSocketIsRemoved) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  std::filesystem::remove(node.plugins() + "/nvidia-gpu.sock");
  ASSERT_TRUE(eventually([&] { return kubelet.of(kGpu).registrations == 2 && kubelet.healthy(kGpu) == 8; }));
  EXPECT_TRUE(kubelet.allocate(kGpu, 1).status.ok());
}

TEST(DevicePluginService, RegistersAgainWhenTheStreamIsLost) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  kubelet.drop_stream(kGpu);
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 0; }));
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
}

TEST(DevicePluginService, TriesAgainAfterKubeletRefused) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  kubelet.refuse("not now");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return service.log().find("not now") != std::string::npos; })) << service.log();
  kubelet.refuse("");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
}

TEST(DevicePluginService, MarksALostGpuAndTakesItBackWhenItAnswersAgain) {
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

// The specs followed the health that kubelet is told: one that was lost after an XID was never left out of them, one
// that answered again was out for as long as it was not trusted, and without health checks nothing was followed.
TEST(DevicePluginService, AsksForCdiSpecsWhenAGpuFallsSilentOrAnswersWhateverItsHealth) {
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
        ASSERT_TRUE(eventually([&] { return service.log().find("cannot be asked") != std::string::npos; }));
        continue;
      }
      EXPECT_TRUE(eventually([&] { return std::filesystem::exists(request); })) << change << "\n" << service.log();
      std::filesystem::remove(request);
    }
  }
}

TEST(DevicePluginStatus, NamesEverySickGpuAndWhy) {
  const Node node("h100x8", "{quiet_seconds: 3}");
  const Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  const auto seen = [&] {
    return Json::parse(node.host().slipway({"status", "-o", "json"}).out)["components"]["deviceplugin"]["service"];
  };
  ASSERT_TRUE(eventually([&] { return seen()["status"] == "8 of 8 GPUs healthy, nvidia.com/gpu registered"; }));
  EXPECT_EQ(seen()["state"], "working");
  EXPECT_TRUE(seen()["reasons"].empty()) << seen();
  // An XID's GPU is healthy again three seconds later, so it is sent until it was seen.
  EXPECT_TRUE(eventually([&] {
    node.sim("gpu 3 xid 79");
    const Json reasons = seen()["reasons"];
    if (reasons.size() != 1) return false;
    const auto reason = reasons[0].get<std::string>();
    return reason.starts_with("GPU 3") && reason.find("is unhealthy") != std::string::npos &&
           reason.find("79") != std::string::npos;
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

// Issue 5: gRPC's eighty shared libraries took more memory than the service itself.
TEST(DevicePluginProgram, NeedsNoLibrariesButThoseOfC) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers are libraries too";
#endif
  const slipway::testing::TempDir folder;
  const std::string command =
      "readelf -d " SLIPWAY_TEST_PLUGINS "/deviceplugin-service >" + folder.at("needed").string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(folder.at("needed"));
  std::size_t libraries = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    EXPECT_THAT(line, ::testing::AnyOf(HasSubstr("[libc.so"), HasSubstr("[libm.so"), HasSubstr("[ld-linux")));
    ++libraries;
  }
  EXPECT_GT(libraries, 0U);
}

TEST(DevicePluginService, KnowsALostGpuAlsoAfterARestart) {
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

TEST(DevicePluginService, KeepsTheMigDevicesOfADriverThatIsAwayAfterARestart) {
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

TEST(DevicePluginService, XidsOfTheGpuMarkItAndThoseOfProgramsDoNot) {
  const Node node("h100x8", "{quiet_seconds: 6}");  // long enough to be looked at on a slow machine
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  node.sim("gpu 1 xid 31");
  node.sim("gpu 2 xid 63");
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 7; })) << service.log();
  // The status file is written a moment after kubelet is told.
  EXPECT_TRUE(eventually([&] { return node.status()["gpus"][2]["health"]["reason"] == "xid-63"; }));
  EXPECT_EQ(node.status()["gpus"][1]["health"]["healthy"], true);
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << "quiet for a while, and it answers";
}

TEST(DevicePluginService, AHangingGpuIsMarkedWhileTheOthersAreHandedOut) {
  const Node node("h100x4", "{quiet_seconds: 1}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 4; })) << service.log();
  node.sim("gpu 0 hang");
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 3; })) << service.log();
  EXPECT_TRUE(kubelet.allocate(kGpu, 3).status.ok());
  node.sim("gpu 0 resume");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 4; })) << service.log();
}

TEST(DevicePluginService, OutlivesADriverThatGoesAndComesBack) {
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

TEST(DevicePluginService, WhileItIsQuiescedKeepsStreamAndListAndHandsNothingOut) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  const unsigned registrations = kubelet.of(kGpu).registrations;
  {
    const Control control(node.host().path("run/slipway/service/deviceplugin.sock").string());
    ASSERT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
    EXPECT_EQ(kubelet.healthy(kGpu), 8U);
    EXPECT_EQ(node.status()["quiet"], true) << "what it says of the GPUs may change";
    const auto refused = kubelet.allocate(kGpu, 1);
    EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_THAT(refused.status.error_message(), HasSubstr("unavailable"));
  }
  EXPECT_TRUE(eventually([&] { return !node.status().contains("quiet"); })) << node.status();
  EXPECT_TRUE(eventually([&] { return kubelet.allocate(kGpu, 1).status.ok(); })) << service.log();
  EXPECT_EQ(kubelet.of(kGpu).registrations, registrations);
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

TEST(DevicePluginService, ASickGpuTakesAllItsReplicasWithIt) {
  const Node node("h100x4", R"({quiet_seconds: 60, config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}})");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 16; })) << service.log();
  node.sim("gpu 2 xid 79");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 12; })) << service.log();
}

TEST(DevicePluginService, ASickGpuTakesAllItsMigDevicesWithIt) {
  const Node node("a100-40x4,mig=1g.5gb", R"({quiet_seconds: 60, config: {version: v1, mig: {strategy: mixed}}})");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-1g.5gb") == 28; })) << service.log();
  node.sim("gpu 1 ecc-uncorrected 1");
  EXPECT_TRUE(eventually([&] { return kubelet.healthy("nvidia.com/mig-1g.5gb") == 21; })) << service.log();
}

TEST(DevicePluginService, TwoPodsNeverShareAnExclusiveGpuInAThousandRounds) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  std::vector<std::vector<std::string>> earlier;
  std::set<std::string> visible;
  unsigned random = 7;
  for (int round = 0; round < 1000; ++round) {
    random = random * 1103515245U + 12345U;
    if (earlier.size() == 8 || (!earlier.empty() && (random >> 16U) % 2 == 0)) {
      const std::size_t which = (random >> 20U) % earlier.size();
      for (const std::string& id : earlier[which]) visible.erase(id);
      kubelet.free(earlier[which]);
      earlier.erase(earlier.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const auto allocated = kubelet.allocate(kGpu, 1);
    ASSERT_TRUE(allocated.status.ok()) << allocated.status.error_message();
    ASSERT_TRUE(visible.insert(allocated.response.envs().at("NVIDIA_VISIBLE_DEVICES")).second) << "round " << round;
    earlier.push_back(allocated.ids);
  }
}

TEST(DevicePluginService, IsFoundByKubeletsPluginWatcher) {
  const Node node("h100x8", "{registration: watcher}");
  const std::string registry = node.host().path("var/lib/kubelet/plugins_registry").string();
  std::filesystem::create_directories(registry);
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(registry + "/nvidia-gpu.sock"); })) << service.log();
  // A socket is there a moment before somebody listens on it; kubelet, too, tries again.
  ASSERT_TRUE(eventually([&] { return kubelet.look_into_registry(registry) == 1; })) << service.log();
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  EXPECT_TRUE(eventually([&] { return node.status()["resources"][0]["registered"] == true; }));
  std::filesystem::remove(registry + "/nvidia-gpu.sock");
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(registry + "/nvidia-gpu.sock"); })) << service.log();
}

TEST(DevicePluginVerify, SaysWhatKubeletItselfSays) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  kubelet.serve_pod_resources(node.host().path("var/lib/kubelet/pod-resources/kubelet.sock").string());
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": {}}, "Checksum": 0})");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  const auto pod = kubelet.allocate(kGpu, 2);
  ASSERT_TRUE(eventually([&] { return node.status()["holders"].size() == 1; })) << service.log();
  EXPECT_EQ(node.status()["holders"][0]["pod"], "default/pod");
  EXPECT_EQ(node.status()["holders"][0]["ids"].size(), 2U);
  ASSERT_TRUE(eventually([&] { return node.status()["resources"][0].value("allocatableAtKubelet", 0) == 8; }));
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_THAT(verify.out, HasSubstr("pass  deviceplugin.registered: kubelet has 8 allocatable nvidia.com/gpu"))
      << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("pass  deviceplugin.health: 8 GPUs are healthy"));
}

// Right after an apply had changed MIG layouts, verify failed: the service asked kubelet once before that had looked at
// the new list, and again five seconds later.
TEST(DevicePluginVerify, GivesKubeletTheTimeToTakeWhatItWasJustSent) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  kubelet.tell_late(5);
  kubelet.serve_pod_resources(node.host().path("var/lib/kubelet/pod-resources/kubelet.sock").string());
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": {}}, "Checksum": 0})");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return node.status().contains("resources"); })) << service.log();
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_THAT(verify.out, HasSubstr("pass  deviceplugin.registered: kubelet has 8 allocatable nvidia.com/gpu"))
      << verify.err << service.log();
  EXPECT_TRUE(eventually([&] { return !node.status().contains("settling"); })) << node.status();
}

// The file that a killed service had left said that all GPUs are healthy, and verify passed.
TEST(DevicePluginVerify, DoesNotBelieveTheFileOfAServiceThatIsDead) {
  const Node node("h100x2");
  {
    RunningService service(node.host(), node.words());
    ASSERT_TRUE(service.hears("READY=1")) << service.log();
    ASSERT_TRUE(eventually([&] { return node.status().is_object(); }));
    EXPECT_THAT(node.host().slipway(node.words("verify")).out, HasSubstr("pass  deviceplugin.health"));
    service.signal(SIGKILL);
    EXPECT_EQ(service.exit_code(), 128 + SIGKILL);
  }
  ASSERT_TRUE(node.status().is_object());
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_EQ(verify.code, 1) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("fail  deviceplugin.service: the service does not run"));
  EXPECT_THAT(verify.out, HasSubstr("not-exercised  deviceplugin.health: the service does not run"));
  const auto table =
      node.host().bare({"deviceplugin", "status", "--root", node.host().path("").string(), "--sim", "h100x2"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.err, HasSubstr("this is what it knew when it ended"));
}

TEST(DevicePluginVerify, AnOlderKubeletIsReadByItsCheckpoint) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins(), {.tells_allocatable = false});
  kubelet.serve_pod_resources(node.host().path("var/lib/kubelet/pod-resources/kubelet.sock").string());
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"RegisteredDevices": {"nvidia.com/gpu": ["a", "b"]}}})");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  ASSERT_TRUE(eventually([&] { return node.status().contains("holders"); })) << service.log();
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_THAT(verify.out, HasSubstr("8 nvidia.com/gpu are offered and kubelet has 2"));
  EXPECT_EQ(verify.code, 1);
}

TEST(DevicePluginService, NamesTheClientsThatHoldAGpusMemory) {
  const Node node("h100x8", "{config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 32; })) << service.log();
  node.sim("process add 2 4711 70000 compute trainer");
  node.sim("process add 2 4712 1000 compute notebook");
  ASSERT_TRUE(eventually([&] { return node.status()["gpus"][2].value("clients", Json::array()).size() == 2; }));
  EXPECT_EQ(node.status()["gpus"][2]["clients"][0]["pid"], 4711);
  EXPECT_EQ(node.status()["gpus"][2]["clients"][0]["memoryBytes"], 70000ULL << 20U);
  EXPECT_TRUE(eventually([&] {
    return node.host().text("run/slipway/deviceplugin/metrics.prom").find("client_memory_bytes{uuid=\"") !=
           std::string::npos;
  }));
}

TEST(DevicePluginService, SaysWhoExhaustedTheMemoryOfAGpuThatIsSharedByTime) {
  const Node node("h100x8", "{config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 32; })) << service.log();
  const auto doctor = [&] { return node.host().slipway(node.words("doctor")).out; };
  EXPECT_THAT(doctor(), Not(HasSubstr("deviceplugin.memory")));
  node.sim("process add 2 4711 80000 compute trainer");
  ASSERT_TRUE(eventually([&] { return service.log().find("share by time-slicing, has") != std::string::npos; }))
      << service.log();
  EXPECT_THAT(service.log(), HasSubstr("(pid 4711) has 80000 MiB"));
  const std::string found = doctor();
  EXPECT_THAT(found, HasSubstr("fail  deviceplugin.memory: GPU 2 ("));
  EXPECT_THAT(found, HasSubstr("20389 MiB"));
  EXPECT_THAT(node.host().slipway({"status"}).out, HasSubstr("share by time-slicing, has"));
  node.sim("process remove 4711");
  EXPECT_TRUE(eventually([&] { return service.log().find("has memory left again") != std::string::npos; }))
      << service.log();
  EXPECT_THAT(doctor(), Not(HasSubstr("deviceplugin.memory")));
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

struct KubeletOf {
  const char* release;
  Kubelet::Release what;
};

class DevicePluginBefore : public ::testing::TestWithParam<KubeletOf> {};

TEST_P(DevicePluginBefore, IsRegisteredHandsOutAndComesBackAfterARestart) {
  const Node node("h100x8", R"({config: {version: v1, flags: {plugin: {deviceListStrategy: [envvar, cdi-cri]}}}})");
  auto kubelet = std::make_unique<Kubelet>(node.plugins(), GetParam().what);
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet->healthy(kGpu) == 8; })) << service.log();
  const auto pod = kubelet->allocate(kGpu, 2);
  ASSERT_TRUE(pod.status.ok()) << pod.status.error_message();
  EXPECT_EQ(pod.response.envs().at("NVIDIA_VISIBLE_DEVICES"), pod.ids[0] + "," + pod.ids[1]);
  ASSERT_EQ(pod.response.cdi_devices_size(), GetParam().what.takes_cdi_devices ? 2 : 0);
  if (GetParam().what.takes_cdi_devices) {
    EXPECT_EQ(pod.response.cdi_devices(0).name(), "nvidia.com/gpu=" + pod.ids[0]);
  }
  kubelet.reset();
  kubelet = std::make_unique<Kubelet>(node.plugins(), GetParam().what);
  EXPECT_TRUE(eventually([&] { return kubelet->healthy(kGpu) == 8; })) << service.log();
}

INSTANTIATE_TEST_SUITE_P(
    Kubelet, DevicePluginBefore,
    ::testing::Values(KubeletOf{"1_24", {.dials_before_it_answers = false, .takes_cdi_devices = false}},
                      KubeletOf{"1_26", {.takes_cdi_devices = false}}, KubeletOf{"1_31", {}}, KubeletOf{"1_36", {}}),
    [](const auto& test) { return std::string(test.param.release); });

TEST(DevicePluginService, PrefersGpusWithoutAskingTheDriver) {
  const Node node("v100sxm3x16");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 16; })) << service.log();
  std::vector<std::string> ids;
  const auto resource = kubelet.of(kGpu);
  for (const auto& [id, device] : resource.devices) ids.push_back(id);
  // The service looks at health again and again; the topology it reads once.
  ASSERT_THAT(node.calls(), HasSubstr("nvmlDeviceGetTopologyCommonAncestor"));
  node.sim("forget-calls");
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(kubelet.prefer(kGpu, ids, 1 + i % 15).size(), 1U + static_cast<unsigned>(i) % 15);
  const std::string calls = node.calls();
  EXPECT_EQ(calls.find("nvmlDeviceGetTopologyCommonAncestor"), std::string::npos) << calls;
  EXPECT_EQ(calls.find("NvLink"), std::string::npos) << calls;
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
