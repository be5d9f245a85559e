// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/allocation/allocate.hpp"

#include <gmock/gmock.h>

#include "machines.hpp"

namespace slipway::deviceplugin {
namespace {

using ::testing::ElementsAre;
using testing::gpus;
using ::testing::HasSubstr;
using testing::mig_gpu;
using ::testing::Pair;
using testing::settings_of;

struct Machine {
  Settings settings;
  Resources resources;
  MachineDevices extras;
  Result<Grant> allocate(const std::vector<std::string>& ids, const std::string& name = "nvidia.com/gpu") const {
    return deviceplugin::allocate(resources.at(name), ids, settings, extras, "key");
  }
};

Machine machine(const std::string& yaml, const std::vector<Gpu>& gpus = testing::gpus(4)) {
  Machine made;
  const auto settings = settings_of(yaml);
  EXPECT_TRUE(settings) << settings.error().what;
  made.settings = *settings;
  Remarks remarks;
  const auto resources = make_resources(gpus, made.settings, remarks);
  EXPECT_TRUE(resources) << resources.error().what;
  made.resources = *resources;
  return made;
}

TEST(Allocate, NamesTheGpusInTheOrderOfTheRequest) {
  const auto grant = machine("").allocate({"GPU-2", "GPU-0"});
  ASSERT_TRUE(grant);
  EXPECT_EQ(*grant, (Grant{.env = {{"NVIDIA_VISIBLE_DEVICES", "GPU-2,GPU-0"}}}));
}

TEST(Allocate, TwoReplicasOfAGpuAreOneVisibleDevice) {
  const auto grant = machine("sharing: {timeSlicing: {replicas: 4}}").allocate({"GPU-1::3", "GPU-1::0", "GPU-0::1"});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->env.at("NVIDIA_VISIBLE_DEVICES"), "GPU-1,GPU-0");
}

TEST(Allocate, IndexesAreSorted) {
  const auto grant = machine("flags: {plugin: {deviceIDStrategy: index}}").allocate({"GPU-2", "GPU-0"});
  EXPECT_EQ(grant->env.at("NVIDIA_VISIBLE_DEVICES"), "0,2");
}

TEST(Allocate, VolumeMountsNameDevicesByPaths) {
  const auto grant = machine("flags: {plugin: {deviceListStrategy: volume-mounts}}").allocate({"GPU-2"});
  EXPECT_EQ(grant->env.at("NVIDIA_VISIBLE_DEVICES"), "/var/run/nvidia-container-devices");
  EXPECT_THAT(grant->mounts, ElementsAre(Mount{"/var/run/nvidia-container-devices/GPU-2", "/dev/null"}));
}

TEST(Allocate, CdiStrategiesReturnOnlyDeviceNames) {
  Machine cdi = machine(
      "{flags: {gdsEnabled: true, plugin: {deviceListStrategy: [cdi-cri, cdi-annotations], "
      "passDeviceSpecs: true}}}");
  cdi.extras.imex_channels = {0};
  const auto grant = cdi.allocate({"GPU-1"});
  ASSERT_TRUE(grant);
  EXPECT_THAT(grant->cdi_devices,
              ElementsAre("nvidia.com/gpu=GPU-1", "nvidia.com/imex-channel=0", "nvidia.com/gds=all"));
  EXPECT_THAT(grant->annotations,
              ElementsAre(Pair("cdi.k8s.io/nvidia-device-plugin_key",
                               "nvidia.com/gpu=GPU-1,nvidia.com/imex-channel=0,nvidia.com/gds=all")));
  EXPECT_THAT(grant->env, ElementsAre(Pair("NVIDIA_GDS", "enabled")));
  EXPECT_TRUE(grant->devices.empty());
}

TEST(Allocate, DeviceSpecsAreControlNodesAndThenTheDevicesEachOnce) {
  Machine mig =
      machine("{mig: {strategy: mixed}, flags: {nvidiaDevRoot: /run/driver, plugin: {passDeviceSpecs: true}}}",
              {mig_gpu(0, {"1g.10gb", "1g.10gb"})});
  mig.extras.control_nodes = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
  const auto grant = mig.allocate({"MIG-0-0", "MIG-0-1"}, "nvidia.com/mig-1g.10gb");
  ASSERT_TRUE(grant);
  EXPECT_THAT(grant->devices,
              ElementsAre(DeviceSpec{"/dev/nvidiactl", "/run/driver/dev/nvidiactl"},
                          DeviceSpec{"/dev/nvidia-uvm", "/run/driver/dev/nvidia-uvm"},
                          DeviceSpec{"/dev/nvidia0", "/run/driver/dev/nvidia0"},
                          DeviceSpec{"/dev/nvidia-caps/nvidia-cap0", "/run/driver/dev/nvidia-caps/nvidia-cap0"},
                          DeviceSpec{"/dev/nvidia-caps/nvidia-cap1", "/run/driver/dev/nvidia-caps/nvidia-cap1"}));
}

TEST(Allocate, MpsClientsGetPipeAndSharedMemory) {
  const auto grant = machine("{flags: {mpsRoot: /run/mps}, sharing: {mps: {replicas: 4}}}").allocate({"GPU-0::1"});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->env.at("CUDA_MPS_PIPE_DIRECTORY"), "/mps/nvidia.com/gpu/pipe");
  EXPECT_THAT(grant->mounts, ElementsAre(Mount{"/mps/nvidia.com/gpu/pipe", "/run/mps/nvidia.com/gpu/pipe"},
                                         Mount{"/dev/shm", "/run/mps/shm"}));
}

TEST(Allocate, RefusesUnknownDevicesAndOversizedRequests) {
  EXPECT_THAT(machine("").allocate({"GPU-9"}).error().what, HasSubstr("unknown device: GPU-9"));
  const Machine one = machine("sharing: {timeSlicing: {failRequestsGreaterThanOne: true, replicas: 4}}");
  EXPECT_TRUE(one.allocate({"GPU-0::1"}));
  EXPECT_EQ(one.allocate({"GPU-0::1", "GPU-1::1"}).error().what,
            "maximum request size for shared resources is 1; found 2");
  const Machine spread = machine("sharing: {timeSlicing: {strictSpread: true, replicas: 4}}");
  EXPECT_TRUE(spread.allocate({"GPU-0::1", "GPU-1::1"}));
  EXPECT_THAT(spread.allocate({"GPU-0::1", "GPU-0::2"}).error().what, HasSubstr("2 replicas would be on 1 GPUs"));
}

}  // namespace
}  // namespace slipway::deviceplugin
