// SPDX-License-Identifier: Apache-2.0
// The service and kubelet: its offer and its allocations, and how it comes back.
#include "tests/component/deviceplugin/node.hpp"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

TEST(DevicePluginService, OffersEightGpusAndAllocatesThemOneByOne) {
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

// --root: before the fix, an image's absolute links led the service to files and sockets of the machine.
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

// Before the fix, gRPC's text about a failed bind(2) filled the log, and the next try was up to half a minute later.
TEST(DevicePluginService, SaysThatKubeletHasNotRunYetAndRegistersOnceItHas) {
  const Node node("h100x8");
  std::filesystem::remove_all(node.host().path("var/lib/kubelet"));
  RunningService service(node.host(), node.words());
  const std::string folder = "var/lib/kubelet/device-plugins is missing";
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

// Before the fix, gRPC's eighty shared libraries took more memory than the service itself.
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

TEST(DevicePluginService, WhileItIsQuiescedKeepsStreamAndListAndAllocatesNothing) {
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
  // A socket exists a moment before its listener; kubelet retries too.
  ASSERT_TRUE(eventually([&] { return kubelet.look_into_registry(registry) == 1; })) << service.log();
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  EXPECT_TRUE(eventually([&] { return node.status()["resources"][0]["registered"] == true; }));
  std::filesystem::remove(registry + "/nvidia-gpu.sock");
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(registry + "/nvidia-gpu.sock"); })) << service.log();
}

struct KubeletOf {
  const char* release;
  Kubelet::Release what;
};

class DevicePluginBefore : public ::testing::TestWithParam<KubeletOf> {};

TEST_P(DevicePluginBefore, IsRegisteredAllocatesAndSurvivesARestart) {
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
  // The service checks health repeatedly; it reads the topology once, after kubelet has the list.
  const std::string last_pair = "nvmlDeviceGetTopologyCommonAncestor 120\n";
  ASSERT_TRUE(eventually([&] { return node.calls().find(last_pair) != std::string::npos; })) << node.calls();
  node.sim("forget-calls");
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(kubelet.prefer(kGpu, ids, 1 + i % 15).size(), 1U + static_cast<unsigned>(i) % 15);
  const std::string calls = node.calls();
  EXPECT_EQ(calls.find("nvmlDeviceGetTopologyCommonAncestor"), std::string::npos) << calls;
  EXPECT_EQ(calls.find("NvLink"), std::string::npos) << calls;
}

}  // namespace
}  // namespace slipway::testing
