// SPDX-License-Identifier: Apache-2.0
// The service while it is reloaded, stopped and idle, as pods see it.
#include <atomic>

#include "tests/component/deviceplugin/node.hpp"

namespace slipway::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Before the fix, the end of the previous run reported that the GPUs were being changed, and pods were rejected
// meanwhile.
TEST(DevicePluginReload, RejectsNoPodAndKeepsTheStream) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  std::atomic<bool> over{false};
  std::atomic<unsigned> pods{0};
  std::string rejected;
  {
    const std::jthread scheduler([&] {
      while (!over) {
        const auto pod = kubelet.allocate(kGpu, 1);
        if (!pod.status.ok()) rejected = pod.status.error_message();
        kubelet.free(pod.ids);
        ++pods;
      }
    });
    for (int i = 1; i <= 5; ++i) {
      service.signal(SIGHUP);
      std::size_t ready = 0;
      EXPECT_TRUE(eventually([&] {
        const std::string told = service.told();
        ready = 0;
        for (std::size_t at = 0; (at = told.find("READY=1", at)) != std::string::npos; ++at) ++ready;
        return ready == static_cast<std::size_t>(i) + 1;
      })) << ready
          << " " << service.log();
    }
    over = true;
  }
  EXPECT_GT(pods, 5U);
  EXPECT_EQ(rejected, "");
  EXPECT_EQ(kubelet.of(kGpu).registrations, 1U);
  EXPECT_EQ(kubelet.of(kGpu).lists, 1U) << "nothing of it changed";
}

TEST(DevicePluginReload, WithAnotherConfigChangesTheListOnTheSameStream) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  node.spec("{config: {version: v1, sharing: {timeSlicing: {replicas: 2}}}}");
  service.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 16; })) << service.log();
  EXPECT_EQ(kubelet.of(kGpu).registrations, 1U);
}

TEST(DevicePluginReload, FromTheWatcherToTheSocketKeepsItsResources) {
  const Node node("h100x8", "{registration: watcher}");
  const std::string registry = node.host().path("var/lib/kubelet/plugins_registry").string();
  fs::create_directories(registry);
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return fs::exists(registry + "/nvidia-gpu.sock"); })) << service.log();
  ASSERT_TRUE(eventually([&] { return kubelet.look_into_registry(registry) == 1; })) << service.log();
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  node.spec("{}");
  service.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return kubelet.of(kGpu).registrations == 2 && kubelet.healthy(kGpu) == 8; }))
      << service.log();
  EXPECT_FALSE(fs::exists(registry + "/nvidia-gpu.sock"));
}

TEST(DevicePluginService, StopsWhileKubeletStaysConnected) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_EQ(kubelet.healthy(kGpu), 0U);
  EXPECT_FALSE(fs::exists(node.plugins() + "/nvidia-gpu.sock"));
}

/// Returns the threads of a process and of its children.
std::set<std::string> threads_of(const std::string& pid) {
  std::set<std::string> threads;
  for (const auto& task : fs::directory_iterator("/proc/" + pid + "/task")) {
    threads.insert(task.path().filename());
    std::ifstream in(task.path() / "children");
    for (std::string child; in >> child;) threads.merge(threads_of(child));
  }
  return threads;
}

// Before the fix, gRPC had 35 threads on a machine of 16 cores, and each check of kubelet started five more.
TEST(DevicePluginService, HasAFewThreadsAndStartsNoneAtRest) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  kubelet.serve_pod_resources(node.host().path("var/lib/kubelet/pod-resources/kubelet.sock").string());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  ASSERT_TRUE(eventually([&] { return !node.status().contains("settling"); })) << node.status();
  std::set<std::string> before;
  ASSERT_TRUE(eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return std::exchange(before, threads_of(std::to_string(service.pid()))) == before;
  }));
  EXPECT_LE(before.size(), 12U);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_EQ(threads_of(std::to_string(service.pid())), before);
}

TEST(DevicePluginStatus, ExplainsHowLongTheRegistrationTookOrWhyThereIsNone) {
  const Node node("h100x8");
  RunningService service(node.host(), node.words());
  const auto resource = [&] {
    const Json status = node.status();
    return status.is_object() && status.contains("resources") && !status["resources"].empty() ? status["resources"][0]
                                                                                              : Json::object();
  };
  ASSERT_TRUE(eventually([&] { return resource().contains("waitsFor"); })) << service.log();
  EXPECT_THAT(resource()["waitsFor"].get<std::string>(),
              HasSubstr("there is no /var/lib/kubelet/device-plugins/kubelet.sock"));
  Kubelet kubelet(node.plugins());
  ASSERT_TRUE(eventually([&] { return resource().value("registered", false); })) << service.log();
  EXPECT_TRUE(resource().contains("registeredInMs"));
  EXPECT_FALSE(resource().contains("waitsFor"));
}

}  // namespace
}  // namespace slipway::testing
