// SPDX-License-Identifier: Apache-2.0
#include "validator/device_plugin_check.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include "gpu_machine.hpp"
#include "validator/driver_check.hpp"

namespace slipway::validator {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using testing::shown;

const std::string kDevicePluginsFolder = Kubelet().device_plugins();

/// A device plugin, as far as kubelet's folder shows it.
class Listener {
 public:
  explicit Listener(const FakeHost& host) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (host.root_folder() + kDevicePluginsFolder + "/nvidia-gpu.sock")
        .copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 4), 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(fd_); }

 private:
  int fd_;
};

void checkpoint(FakeHost& host, const std::string& registered) {
  host.file(kDevicePluginsFolder + "/kubelet_internal_checkpoint",
            R"({"Data":{"PodDeviceEntries":null,"RegisteredDevices":)" + registered + R"(},"Checksum":1})");
}

TEST(DevicePlugin, IsNotExercisedWithoutKubeletOrWithoutAPlugin) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  EXPECT_THAT(shown(check_device_plugin(host)), HasSubstr("not-exercised validator.plugin: there is no kubelet"));
  EXPECT_EQ(device_total(host), -1);
  checkpoint(host, "null");
  EXPECT_THAT(shown(check_device_plugin(host)), HasSubstr("not-exercised validator.plugin: no device plugin"));
  checkpoint(host, R"({"vendor.com/nic": ["a"]})");
  EXPECT_THAT(shown(check_device_plugin(host)), HasSubstr("not-exercised"));
}

// Before the fix, verify reported both that no kubelet had run, and that kubelet had no device.
TEST(DevicePlugin, IsNotExercisedWhereAPluginListensAndNoKubeletHasRun) {
  FakeHost host;
  host.live("6.1.0-50-amd64").directory(kDevicePluginsFolder);
  const Listener plugin(host);
  EXPECT_THAT(shown(check_device_plugin(host)), HasSubstr("not-exercised validator.plugin: no kubelet has run"));
}

TEST(DevicePlugin, PassesWhenKubeletHasDevicesOfAPluginThatListens) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  checkpoint(host, R"({"nvidia.com/gpu": ["GPU-a", "GPU-b"], "nvidia.com/mig-1g.10gb": ["MIG-c"], "x.com/y": ["z"]})");
  const Listener plugin(host);
  EXPECT_EQ(shown(check_device_plugin(host)),
            "pass validator.plugin: kubelet has 2 nvidia.com/gpu, 1 nvidia.com/mig-1g.10gb");
  EXPECT_EQ(device_total(host), 3);
}

// Before the fix, a node whose config renamed its GPUs was reported as having no device.
TEST(DevicePlugin, PassesWhenTheOnlyDevicesHaveANameThatTheConfigGave) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  checkpoint(host, R"({"nvidia.com/a100": ["GPU-a"], "x.com/y": ["z"]})");
  const Listener plugin(host);
  EXPECT_THAT(shown(check_device_plugin(host)), HasSubstr("fail validator.plugin: the device plugin runs"));
  EXPECT_EQ(shown(check_device_plugin(host, {.root = Kubelet().root, .named = {"nvidia.com/a100"}})),
            "pass validator.plugin: kubelet has 1 nvidia.com/a100");
  EXPECT_EQ(device_total(host, {.root = Kubelet().root, .named = {"nvidia.com/a100"}}), 1);
}

// Before the fix, a node of k0s or MicroK8s was reported as having no kubelet.
TEST(DevicePlugin, LooksWhereTheSpecSaysThatKubeletIs) {
  FakeHost host;
  host.live("6.1.0-50-amd64")
      .file("/var/lib/k0s/kubelet/device-plugins/kubelet_internal_checkpoint",
            R"({"Data":{"RegisteredDevices":{"nvidia.com/gpu":["GPU-a"]}}})");
  EXPECT_THAT(shown(check_device_plugin(host)), HasSubstr("there is no kubelet"));
  EXPECT_EQ(device_total(host, {.root = "/var/lib/k0s/kubelet", .named = {}}), 1);
}

TEST(DevicePlugin, FailsWhenThePluginIsGoneOrHasNothing) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  checkpoint(host, R"({"nvidia.com/gpu": ["GPU-a"]})");
  { const Listener plugin(host); }  // its socket remains
  EXPECT_THAT(shown(check_device_plugin(host)), HasSubstr("fail validator.plugin: kubelet knows NVIDIA's devices"));
  std::filesystem::remove(host.root_folder() + kDevicePluginsFolder + "/nvidia-gpu.sock");
  checkpoint(host, R"({"nvidia.com/gpu": []})");
  const Listener plugin(host);
  EXPECT_THAT(shown(check_device_plugin(host)), HasSubstr("fail validator.plugin: the device plugin runs"));
}

TEST(DevicePlugin, IgnoresADamagedCheckpoint) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  for (const char* text : {"", "{", "[]", R"({"Data": 1})"}) {
    host.file(kDevicePluginsFolder + "/kubelet_internal_checkpoint", text);
    EXPECT_EQ(device_total(host), -1) << text;
  }
}

TEST(Companions, PassWhenTheirModuleIsLoadedAndFailOtherwise) {
  FakeHost host;
  host.live("6.1.0-50-amd64").module_loaded_now("gdrdrv");
  EXPECT_EQ(shown(check_companion(host, "gdrcopy")), "pass validator.gdrcopy: the module gdrdrv is loaded");
  EXPECT_EQ(shown(check_companion(host, "nvidia-fs")), "fail validator.nvidia-fs: the module nvidia_fs is not loaded");
  EXPECT_EQ(driver_ctr_ready_text(host), "GDRCOPY_ENABLED: true\nGDS_ENABLED: false\nGPU_DIRECT_RDMA_ENABLED: false\n");
}

}  // namespace
}  // namespace slipway::validator
