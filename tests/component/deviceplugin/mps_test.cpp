// SPDX-License-Identifier: Apache-2.0
// The control daemon is a stand-in (mps_control.cpp); GPUs are simulated.
#include "deviceplugin/service/mps/settings.hpp"
#include "tests/component/deviceplugin/mps_node.hpp"

namespace slipway {
namespace {

using slipway::testing::eventually;
using slipway::testing::kGpuResource;
using slipway::testing::Mps;
using slipway::testing::RunningService;
using ::testing::HasSubstr;

TEST_F(Mps, GpusAreAllocatedOnceTheirDaemonIsReadyAndKnowsItsLimits) {
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_EQ(told(),
            "started\nset_default_device_pinned_mem_limit 0 20389M\nset_default_device_pinned_mem_limit 1 20389M\n"
            "set_default_active_thread_percentage 25\n");
  const auto pod = kubelet_.allocate(kGpuResource, 1);
  ASSERT_TRUE(pod.status.ok()) << pod.status.error_message();
  EXPECT_EQ(pod.response.envs().at("CUDA_MPS_PIPE_DIRECTORY"), "/mps/nvidia.com/gpu/pipe");
  EXPECT_FALSE(kubelet_.allocate(kGpuResource, 2).status.ok()) << "MPS hands out one at a time unless told otherwise";
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_EQ(daemon(), 0) << "it had no clients";
}

TEST_F(Mps, ADaemonThatDiesIsStartedAgainAndMeanwhileNothingIsAllocated) {
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  const pid_t first = daemon();
  node_.host().put(kFolder + "log/no-start", "");
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return kubelet_.healthy(kGpuResource) == 0; })) << service.log();
  EXPECT_EQ(kubelet_.capacity(kGpuResource), 8U);
  EXPECT_FALSE(kubelet_.allocate(kGpuResource, 1).status.ok());
  std::filesystem::remove(node_.host().path(kFolder + "log/no-start"));
  ASSERT_TRUE(eventually([&] { return kubelet_.healthy(kGpuResource) == 8; })) << service.log();
  EXPECT_NE(daemon(), first);
  EXPECT_TRUE(says(service, "the MPS control daemon ended")) << service.log();
}

TEST_F(Mps, AReloadKeepsADaemonThatHasClients) {
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  const pid_t first = daemon();
  node_.host().put(kFolder + "pipe/servers", "4711\n");
  node_.host().put(kFolder + "pipe/clients", "4712\n");
  node_.spec("{quiet_seconds: 1, config: {version: v1, sharing: {mps: {replicas: 2}}}}");
  service.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return kubelet_.healthy(kGpuResource) == 4; })) << service.log();
  EXPECT_EQ(daemon(), first);
  EXPECT_TRUE(says(service, "took over the MPS control daemon")) << service.log();
  EXPECT_THAT(told(), HasSubstr("set_default_active_thread_percentage 50\n"));
}

// Before the fix, the end of the previous run ended the daemon, so that its GPUs were unhealthy until the next one had
// started another.
TEST_F(Mps, AReloadLeavesADaemonWithoutClientsAlone) {
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  const pid_t first = daemon();
  const unsigned lists = kubelet_.of(kGpuResource).lists;
  service.signal(SIGHUP);
  ASSERT_TRUE(says(service, "took over the MPS control daemon")) << service.log();
  EXPECT_EQ(daemon(), first);
  EXPECT_TRUE(kubelet_.allocate(kGpuResource, 1).status.ok());
  EXPECT_EQ(kubelet_.of(kGpuResource).lists, lists) << "they were healthy all the time";
}

TEST_F(Mps, ADaemonWithClientsSurvivesTheServiceAndTheNextOneTakesItOver) {
  for (const int how : {SIGTERM, SIGKILL}) {
    RunningService service(node_.host(), node_.words());
    ASSERT_TRUE(ready(service)) << service.log();
    const pid_t first = daemon();
    ASSERT_GT(first, 0);
    node_.host().put(kFolder + "pipe/servers", "4711\n");
    node_.host().put(kFolder + "pipe/clients", "4712\n");
    service.signal(how);
    (void)service.exit_code();
    EXPECT_EQ(::kill(first, 0), 0) << "signal " << how << " took the daemon along: " << service.log();
    RunningService next(node_.host(), node_.words());
    ASSERT_TRUE(ready(next)) << next.log();
    EXPECT_EQ(daemon(), first);
    EXPECT_TRUE(says(next, "took over the MPS control daemon")) << next.log();
    next.signal(SIGTERM);
    EXPECT_EQ(next.exit_code(), 0) << next.log();
    EXPECT_EQ(::kill(first, 0), 0);
  }
}

TEST_F(Mps, AnAdoptedDaemonIsWatchedAsWell) {
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  node_.host().put(kFolder + "pipe/servers", "4711\n");
  node_.host().put(kFolder + "pipe/clients", "4712\n");
  service.signal(SIGKILL);
  (void)service.exit_code();
  RunningService next(node_.host(), node_.words());
  ASSERT_TRUE(ready(next)) << next.log();
  const pid_t first = daemon();
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return daemon() != first && kubelet_.healthy(kGpuResource) == 8; })) << next.log();
  EXPECT_TRUE(says(next, "the MPS control daemon ended")) << next.log();
}

TEST_F(Mps, AnUnneededDaemonEndsWithItsLastClientEvenAfterARestart) {
  pid_t first = 0;
  {
    RunningService service(node_.host(), node_.words());
    ASSERT_TRUE(ready(service)) << service.log();
    first = daemon();
    node_.host().put(kFolder + "pipe/servers", "4711\n");
    node_.host().put(kFolder + "pipe/clients", "4712\n");
    service.signal(SIGTERM);
    EXPECT_EQ(service.exit_code(), 0) << service.log();
  }
  node_.spec("{quiet_seconds: 1}");
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(eventually([&] { return kubelet_.healthy(kGpuResource) == 2; })) << service.log();
  EXPECT_EQ(daemon(), first) << "it has a client";
  node_.host().put(kFolder + "pipe/clients", "");
  EXPECT_TRUE(eventually([&] { return daemon() == 0; })) << service.log();
}

TEST_F(Mps, ALimitThatTheDaemonDoesNotTakeIsReported) {
  node_.host().put(kFolder + "log/no-limits", "");
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_TRUE(says(service, "clients get no memory limit on GPU 1")) << service.log();
}

TEST_F(Mps, TheOutputOfTheDaemonIsInItsLog) {
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_EQ(node_.host().text(kFolder + "log/control.log"), "Starting control daemon\n");
}

// An upgrade of the driver replaces the file; the daemon's clients continue.
TEST_F(Mps, ADaemonWhoseProgramWasReplacedIsStillTheDaemon) {
  const auto program = node_.host().path("opt/mps/nvidia-cuda-mps-control");
  std::filesystem::create_directories(program.parent_path());
  std::filesystem::copy_file(SLIPWAY_MPS_STAND_IN, program);
  ::setenv("SLIPWAY_MPS_CONTROL", program.c_str(), 1);
  pid_t first = 0;
  {
    RunningService service(node_.host(), node_.words());
    ASSERT_TRUE(ready(service)) << service.log();
    first = daemon();
    node_.host().put(kFolder + "pipe/servers", "4711\n");
    node_.host().put(kFolder + "pipe/clients", "4712\n");
    service.signal(SIGKILL);
    (void)service.exit_code();
  }
  std::filesystem::copy_file(SLIPWAY_MPS_STAND_IN, program.string() + ".new");
  std::filesystem::rename(program.string() + ".new", program);
  RunningService next(node_.host(), node_.words());
  ASSERT_TRUE(ready(next)) << next.log();
  EXPECT_EQ(daemon(), first) << next.log();
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  EXPECT_TRUE(says(next, "the MPS control daemon ended")) << "it was not watched: " << next.log();
}

TEST_F(Mps, WithoutAControlDaemonTheReasonIsReported) {
  ::setenv("SLIPWAY_MPS_CONTROL", "/nowhere/nvidia-cuda-mps-control", 1);
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(eventually([&] { return kubelet_.capacity(kGpuResource) == 8; })) << service.log();
  EXPECT_EQ(kubelet_.healthy(kGpuResource), 0U);
  EXPECT_TRUE(eventually([&] { return service.log().find("/nowhere/nvidia-cuda-mps-control") != std::string::npos; }))
      << service.log();
}

TEST_F(Mps, AControlDaemonThatAnotherUserCanReplaceIsNotStarted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const auto program = node_.host().path("opt/mps/nvidia-cuda-mps-control");
  std::filesystem::create_directories(program.parent_path());
  std::filesystem::copy_file(SLIPWAY_MPS_STAND_IN, program);
  ASSERT_EQ(::chown(program.parent_path().c_str(), 1000, 1000), 0);
  ::setenv("SLIPWAY_MPS_CONTROL", program.c_str(), 1);
  RunningService service(node_.host(), node_.words());
  EXPECT_TRUE(says(service, "SLIPWAY_MPS_CONTROL=" + program.string())) << service.log();
  EXPECT_TRUE(says(service, "belongs to user 1000")) << service.log();
  EXPECT_EQ(told(), "");
}

TEST(MpsSettings, DividesMemoryAndThreadsByReplicasOfEachGpu) {
  deviceplugin::Gpu gpu;
  gpu.index = 3;
  deviceplugin::Resource resource;
  resource.name = kGpuResource;
  resource.sharing = deviceplugin::SharingKind::mps;
  for (std::size_t i = 0; i < 2; ++i) {
    deviceplugin::Device device;
    device.uuid = "GPU-" + std::to_string(i);
    device.memory_bytes = 80ULL << 30U;
    resource.devices.push_back(device);
    for (std::size_t n = 0; n < (i == 0 ? 3U : 1U); ++n) resource.ids.push_back({device.uuid, i});
  }
  const auto wanted = deviceplugin::mps_settings({{kGpuResource, resource}}, {gpu});
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_THAT(wanted.at(kGpuResource).gpus, ::testing::ElementsAre("GPU-0")) << "the other one is exclusive";
  ASSERT_EQ(wanted.at(kGpuResource).limits.size(), 1U);
  EXPECT_EQ(deviceplugin::memory_command(wanted.at(kGpuResource).limits.front()),
            "set_default_device_pinned_mem_limit 3 27306M");
  EXPECT_EQ(deviceplugin::threads_command(wanted.at(kGpuResource).thread_percentage),
            "set_default_active_thread_percentage 33");
  const auto limit_with = [&](unsigned percent) {
    return deviceplugin::mps_settings({{kGpuResource, resource}}, {gpu}, percent)
        .at(kGpuResource)
        .limits.front()
        .memory_mib;
  };
  EXPECT_EQ(limit_with(150), 40959U);
  EXPECT_EQ(limit_with(900), 81920U) << "more than there is is no limit";
}

}  // namespace
}  // namespace slipway
