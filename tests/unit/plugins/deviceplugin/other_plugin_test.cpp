// SPDX-License-Identifier: Apache-2.0
// Another device plugin for the same GPUs: how it is recognised, named and removed.
#include "deviceplugin/other_plugin.hpp"

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/plugins/nvidia/process/pod_process.hpp"

namespace slipway::deviceplugin {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::kPodGroup;
using slipway::testing::kPodUid;
using slipway::testing::run_process;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kRoot = "/var/lib/kubelet";
constexpr const char* kFolder = "/var/lib/kubelet/device-plugins";
const OwnPlugin kOwn{.resources = {"nvidia.com/gpu"}};

/// NVIDIA's plugin as its DaemonSet runs it, without capabilities, or a variant of it.
struct Like {
  std::string name = "nvidia-device-p";
  std::string program = "/usr/bin/nvidia-device-plugin";
  std::string user = "0";
  std::string capabilities = "0000000000000000";
  std::string mount = kFolder;
  std::string disk = "8:1";
  std::string group = kPodGroup;
};

void run(FakeHost& host, const Like& like) {
  run_process(host, like);
  host.file("/proc/4711/mountinfo", "1 0 0:30 / / rw - overlay overlay rw\n2 1 " + like.disk + " " + like.mount +
                                        " /var/lib/kubelet/device-plugins rw - ext4 /dev/sda1 rw\n");
  host.file("/proc/1/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
  host.directory(std::string("/var/log/pods/kube-system_nvidia-device-plugin-x7k2p_") + kPodUid);
}

void register_shared(FakeHost& host) {
  host.file(std::string(kFolder) + "/kubelet_internal_checkpoint",
            R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": {"nvidia.com/gpu": ["GPU-0"],
      "nvidia.com/gpu.shared": ["GPU-0::0", "GPU-0::1"], "acme.com/nic": ["eth0"], "nvidia.com/gone": []}}})");
}

/// A process that listens at that socket.
class Listener {
 public:
  explicit Listener(const std::filesystem::path& path) {
    std::filesystem::create_directories(path.parent_path());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    EXPECT_LT(path.string().size(), sizeof address.sun_path);
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      (void)::listen(socket, 16);  // the kernel reports the process that calls this
      (void)!::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    char told = 0;
    EXPECT_EQ(::read(ready[0], &told, 1), 1);
    for (const int fd : {ready[0], ready[1], socket}) ::close(fd);
  }
  ~Listener() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

// Before the fix, NVIDIA's plugin with renameByDefault gave a shared pod a GPU that another pod had for itself, without
// a message.
TEST(OtherPlugin, IsNvidiasWithItsPodAndItsResources) {
  FakeHost host;
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), IsEmpty());
  run(host, {});
  register_shared(host);
  const auto found = find_other_plugins(host, kRoot, kOwn);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].text,
              AllOf(HasSubstr("NVIDIA's device plugin (pid 4711, pod kube-system/nvidia-device-plugin-x7k2p"),
                    HasSubstr("offers nvidia.com/gpu.shared (2 devices)")));
  EXPECT_THAT(found[0].remedy, HasSubstr("kubectl label node NODE nvidia.com/gpu.deploy.device-plugin=false"));
  EXPECT_EQ(found[0].unit, "");
}

// Otherwise a tenant whose process has that name would keep slipway from the GPUs, with `yield`.
TEST(OtherPlugin, IsNotAProcessWithoutKubeletsFolder) {
  const Like others[] = {{.name = "nvidia-device"},
                         {.program = "/usr/bin/python3"},
                         {.user = "4242", .capabilities = "000001ffffffffff"},
                         {.mount = "/var/lib/kubelet/pods/x/volumes/kubernetes.io~empty-dir/e/device-plugins"},
                         {.disk = "8:17"}};
  for (const Like& like : others) {
    FakeHost host;
    run(host, like);
    EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), IsEmpty())
        << like.name << like.program << like.user << like.mount << like.disk;
  }
  FakeHost host;
  run(host, {.capabilities = "000001ffffffffff", .mount = "/elsewhere"});
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), SizeIs(1)) << "it may do what it wants anyway";
}

// Before the fix, the path within its file system was compared with kubelet's whole path.
TEST(OtherPlugin, IsKnownWhereKubeletsFolderIsADiskOfItsOwn) {
  FakeHost host;
  run(host, {.mount = "/device-plugins", .disk = "8:17"});
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), IsEmpty());
  host.file("/proc/1/mountinfo",
            "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:17 / /var/lib/kubelet rw - ext4 /dev/sdb1 rw\n");
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), SizeIs(1));
}

// The text is then "The device plugin a process (pid 12)".
TEST(OtherPlugin, IsNamedGenericallyWhereNothingElseIsKnown) {
  FakeHost host;
  register_shared(host);
  const std::filesystem::path folder = host.root().at(std::string(kFolder).substr(1));
  const Listener shared(folder / "nvidia-gpu.shared.sock");
  const std::string pid = std::to_string(shared.pid());
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn).at(0).text,
              StartsWith("a device plugin (pid " + pid + "), which listens"));
  host.file("/proc/" + pid + "/stat",
            pid + " (acme-gpu) S 3 7 7 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 12345 1000 200\n");
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn).at(0).text, StartsWith("the device plugin acme-gpu (pid " + pid));
}

TEST(OtherPlugin, IsAProcessThatListensAtASocketOfAGpuResource) {
  FakeHost host;
  register_shared(host);
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), IsEmpty()) << "a plugin that has ended";
  const std::filesystem::path folder = host.root().at(std::string(kFolder).substr(1));
  const Listener nic(folder / "nvidia-nic.sock");
  const Listener kubelet(folder / "kubelet.sock");
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), IsEmpty()) << "of other devices";
  const Listener shared(folder / "nvidia-gpu.shared.sock");
  const auto found = find_other_plugins(host, kRoot, kOwn);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].text, AllOf(HasSubstr("pid " + std::to_string(shared.pid())),
                                   HasSubstr("which listens at nvidia-gpu.shared.sock"),
                                   HasSubstr("nvidia.com/gpu.shared (2 devices)")));
}

// Before the fix, in another pid namespace than the service's, its control socket gave another number, and the service
// itself was reported.
TEST(OtherPlugin, IsNotTheServiceItself) {
  FakeHost host;
  const Listener plugin(std::filesystem::path(host.root().string()) / std::string(kFolder).substr(1) /
                        "nvidia-gpu.sock");
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), SizeIs(1));
  host.file("/proc/" + std::to_string(plugin.pid()) + "/stat",
            "1 (slipway-devicep) S 3 7 7 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 12345 1000 200\n");
  const std::string group = "/proc/" + std::to_string(plugin.pid()) + "/cgroup";
  host.file(group, "0::/user.slice/user-1000.slice/user@1000.service/slipway-deviceplugin.service\n");
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), SizeIs(1)) << "a user's unit";
  host.file(group, "0::/system.slice/slipway-deviceplugin.service\n");
  EXPECT_THAT(find_other_plugins(host, kRoot, kOwn), IsEmpty());
}

Facts facts_of(FakeHost& host) {
  Facts facts;
  add_other_plugin_units(host, facts);
  add_other_plugins(host, kRoot, kOwn, facts);
  return facts;
}

TEST(OtherPluginPlan, NamesTheOtherPluginUnlessTheSpecReplacesIt) {
  FakeHost host;
  run(host, {});
  const Facts facts = facts_of(host);
  Plan report;
  ASSERT_TRUE(add_other_plugin(OtherPluginPolicy::report, facts, report).ok());
  ASSERT_THAT(report.notes(), SizeIs(1));
  EXPECT_THAT(report.notes()[0], AllOf(HasSubstr("a pod of one may get a GPU that a pod of the other has"),
                                       HasSubstr("kubectl label node"), HasSubstr("other_plugin: yield")));
  Plan yield;
  ASSERT_TRUE(add_other_plugin(OtherPluginPolicy::yield, facts, yield).ok());
  ASSERT_THAT(yield.notes(), SizeIs(1));
  EXPECT_THAT(yield.notes()[0], HasSubstr("the GPUs are left to it"));
  Plan taken;
  const Status refused = add_other_plugin(OtherPluginPolicy::take_over, facts, taken);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(refused.error().where, "spec.components.deviceplugin.other_plugin = take-over");
  EXPECT_THAT(refused.error().next, HasSubstr("kubectl label node NODE nvidia.com/gpu.deploy.device-plugin=false"));
}

TEST(OtherPluginPlan, StopsAndMasksAUnitOfTheHost) {
  FakeHost host;
  run(host, {.group = "/system.slice/nvidia-k8s-device-plugin.service"});
  host.file("/usr/lib/systemd/system/nvidia-k8s-device-plugin.service", "[Service]\nExecStart=/usr/bin/x\n");
  Plan plan;
  ASSERT_TRUE(add_other_plugin(OtherPluginPolicy::take_over, facts_of(host), plan).ok());
  ASSERT_THAT(plan.actions(), SizeIs(2));
  EXPECT_EQ(plan.actions()[0].kind(), "systemd-unit");
  EXPECT_EQ(plan.actions()[0].target(), "nvidia-k8s-device-plugin.service");
  EXPECT_TRUE(plan.actions()[0].json().value("stopped", false));
  EXPECT_EQ(plan.actions()[1].kind(), "symlink");
  EXPECT_EQ(plan.actions()[1].target(), "/etc/systemd/system/nvidia-k8s-device-plugin.service");
  host.link("/etc/systemd/system/nvidia-k8s-device-plugin.service", "/dev/null");
  host.without("/proc/4711");
  Plan second;
  ASSERT_TRUE(add_other_plugin(OtherPluginPolicy::take_over, facts_of(host), second).ok());
  EXPECT_THAT(second.actions(), SizeIs(2)) << "it stays so as long as the component is there";
  Plan report;
  ASSERT_TRUE(add_other_plugin(OtherPluginPolicy::report, facts_of(host), report).ok());
  EXPECT_THAT(report.actions(), IsEmpty());
}

TEST(OtherPluginFindings, AreAWarningUnlessTheGpusAreLeftToIt) {
  FakeHost host;
  run(host, {});
  Findings findings;
  add_other_plugin_findings(host, kRoot, kOwn, OtherPluginPolicy::report, findings);
  add_other_plugin_findings(host, kRoot, kOwn, OtherPluginPolicy::yield, findings);
  ASSERT_THAT(findings.list(), SizeIs(2));
  EXPECT_EQ(findings.list()[0].name, "deviceplugin.other-plugin");
  EXPECT_EQ(findings.list()[0].status, Finding::Status::warning);
  EXPECT_THAT(findings.list()[0].remedy, HasSubstr("other_plugin: yield"));
  EXPECT_EQ(findings.list()[1].status, Finding::Status::not_exercised);
}

}  // namespace
}  // namespace slipway::deviceplugin
