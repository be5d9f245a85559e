// SPDX-License-Identifier: Apache-2.0
// Containers that lost their GPU: doctor's finding for each cause, on machines whose engines and kernel are folders.
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>

#include "toolkit/containers/loss.hpp"
#include "toolkit/containers/scope.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kId(64, 'a');
const std::string kScope = "cri-containerd-" + kId + ".scope";
const std::string kGroup = "/kubepods.slice/" + kScope;
const std::string kTask = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kId;
const std::string kTransient = "/run/systemd/transient/" + kScope;
constexpr unsigned kPid = 4711;

/// A kernel whose containers have the nodes that a test sets, and whose control groups have one program, or do not show
/// it.
class FakeKernel final : public ContainerKernel {
 public:
  Place place(unsigned pid, std::string_view, const std::string& path) const override {
    const auto found = nodes.find({pid, path});
    return found == nodes.end() ? Place{Place::Kind::missing, {}} : Place{Place::Kind::device, found->second};
  }
  Result<std::vector<DeviceProgram>> programs(const std::string&) const override {
    if (!program) return Error{ErrorCode::denied, "no programs are shown", {}, {}, {}};
    return std::vector<DeviceProgram>{*program};
  }
  std::optional<DeviceProgram> program;
  std::map<std::pair<unsigned, std::string>, DeviceNumber> nodes;
};

Json device(const std::string& path, unsigned major, unsigned minor) {
  return {{"path", path}, {"type", "c"}, {"major", major}, {"minor", minor}};
}
Json rule(bool allow, unsigned major, unsigned minor) {
  return {{"allow", allow}, {"type", "c"}, {"major", major}, {"minor", minor}, {"access", "rw"}};
}

/// The file that containerd's CRI plugin writes for a pod's container with a CDI device.
Json cdi_config() {
  return {{"annotations",
           {{"io.kubernetes.cri.sandbox-namespace", "team-a"},
            {"io.kubernetes.cri.sandbox-name", "train-0"},
            {"io.kubernetes.cri.container-name", "trainer"}}},
          {"process", {{"env", {"PATH=/bin", "NVIDIA_VISIBLE_DEVICES=void"}}}},
          {"linux",
           {{"devices", {device("/dev/nvidia0", 195, 0), device("/dev/nvidiactl", 195, 255)}},
            {"resources",
             {{"devices", {{{"allow", false}, {"access", "rwm"}}, rule(true, 195, 0), rule(true, 195, 255)}}}}}}};
}

Json legacy_config(const std::string& visible) {
  Json config = cdi_config();
  config["linux"]["devices"] = Json::array();
  config["linux"]["resources"]["devices"] = {{{"allow", false}, {"access", "rwm"}}};
  config["process"]["env"] = {"NVIDIA_VISIBLE_DEVICES=" + visible};
  config["hooks"]["prestart"] = {{{"path", "/usr/bin/nvidia-container-runtime-hook"}}};
  return config;
}

class LostGpu : public ::testing::Test {
 protected:
  LostGpu() {
    host_.live("6.1.0-50-amd64").module_loaded_now("nvidia");
    host_.file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.261.03  Thu\n");
    host_.file("/proc/driver/nvidia/gpus/0000:65:00.0/information", "Model: \t\t H100\nDevice Minor: \t 0\n");
    host_.file("/sys/bus/pci/devices/0000:65:00.0/config", "\xde\x10");
    host_.device("/dev/nvidia0", 195, 0).device("/dev/nvidiactl", 195, 255);
    container(cdi_config());
    rules("c 1:3 rwm\nc 195:0 rw\nc 195:255 rw\n");
    kernel_.nodes = {{{kPid, "/dev/nvidia0"}, {195, 0}}, {{kPid, "/dev/nvidiactl"}, {195, 255}}};
    scope("DeviceAllow=/dev/char/1:3 rwm\nDeviceAllow=/dev/char/195:0 rw\nDeviceAllow=/dev/char/195:255 rw\n");
  }
  void container(const Json& config) {
    host_.file(kTask + "/init.pid", std::to_string(kPid)).file(kTask + "/config.json", config.dump());
    process("");
  }
  void process(const std::string& mounts) {
    const std::string folder = "/proc/" + std::to_string(kPid);
    host_.file(folder + "/cgroup", "12:devices:" + kGroup + "\n0::" + kGroup + "\n");
    host_.file(folder + "/mountinfo", mounts);
  }
  void rules(const std::string& list) { host_.file("/sys/fs/cgroup/devices" + kGroup + "/devices.list", list); }
  void scope(const std::string& lines) { host_.file(kTransient, "[Scope]\nDevicePolicy=strict\n" + lines); }

  /// Returns a line for each finding.
  std::string found() const {
    Findings findings;
    diagnose_containers(host_, kernel_, findings);
    std::string lines;
    for (const Finding& finding : findings.list())
      lines += std::string(to_string(finding.status)) + " " + finding.name + ": " + finding.text +
               "; do: " + finding.remedy + "\n";
    return lines;
  }

  FakeHost host_;
  FakeKernel kernel_;
};

TEST_F(LostGpu, NothingIsReportedWithoutAFault) { EXPECT_EQ(found(), ""); }

TEST_F(LostGpu, AScopeWithoutTheDeviceIsARiskBeforeTheReload) {
  scope("DeviceAllow=/dev/char/1:3 rwm\n");
  EXPECT_THAT(found(), AllOf(HasSubstr("warning runtime.gpu-at-risk: 1 running container will lose a GPU"),
                             HasSubstr("pod team-a/train-0, container trainer: /dev/nvidia0 (195:0)"),
                             HasSubstr("runc 1.1.3 to 1.1.6"), HasSubstr("/dev/char"),
                             HasSubstr("`systemctl set-property --runtime '" + kScope +
                                       "' 'DeviceAllow=/dev/char/195:0 rw'` keeps it")));
  rules("c 1:3 rwm\n");
  EXPECT_THAT(found(),
              AllOf(HasSubstr("fail runtime.lost-gpu: 1 running container cannot reach a GPU that it was given"),
                    HasSubstr("daemon-reload"), HasSubstr("component cdi"), Not(HasSubstr("at-risk"))));
}

TEST_F(LostGpu, NamesContainersOfTheLegacyHook) {
  container(legacy_config("GPU-1"));
  scope("DeviceAllow=/dev/char/1:3 rwm\n");
  EXPECT_THAT(found(), AllOf(HasSubstr("warning runtime.gpu-at-risk"), HasSubstr("legacy hook"), HasSubstr("use CDI")));
  rules("c 1:3 rwm\n");
  EXPECT_THAT(found(), AllOf(HasSubstr("fail runtime.lost-gpu"), HasSubstr("legacy hook")));
  kernel_.nodes.clear();
  EXPECT_THAT(found(), HasSubstr("the node is no longer in the container's /dev"));
}

TEST_F(LostGpu, RewrittenRulesAreFound) {
  rules("c 1:3 rwm\n");
  EXPECT_THAT(found(), AllOf(HasSubstr("another program has rewritten the rules"), HasSubstr("journalctl")));
}

TEST_F(LostGpu, AMissingNodeIsFound) {
  kernel_.nodes.erase({kPid, "/dev/nvidia0"});
  EXPECT_THAT(found(), HasSubstr("/dev/nvidia0): the node is no longer in the container's /dev"));
}

TEST_F(LostGpu, ANodeWithANewNumberIsFound) {
  Json config = cdi_config();
  config["linux"]["devices"].push_back(device("/dev/nvidia-uvm", 511, 0));
  container(config);
  kernel_.nodes[{kPid, "/dev/nvidia-uvm"}] = {511, 0};
  host_.device("/dev/nvidia-uvm", 509, 0);
  EXPECT_THAT(found(), AllOf(HasSubstr("/dev/nvidia-uvm is 511:0 in the container and 509:0 on the host"),
                             HasSubstr("created again")));
}

TEST_F(LostGpu, AGpuUnderAnotherNameInTheContainerIsTheSameGpu) {
  Json config = cdi_config();
  config["linux"]["devices"][0]["path"] = "/dev/nvidia5";
  container(config);
  kernel_.nodes[{kPid, "/dev/nvidia5"}] = {195, 0};
  EXPECT_EQ(found(), "");
}

TEST_F(LostGpu, AMissingGpuIsFound) {
  host_.file("/sys/bus/pci/devices/0000:65:00.0/config", "\xff\xff\xff\xff");
  EXPECT_THAT(found(), HasSubstr("the GPU is gone"));
  host_.without("/proc/driver/nvidia/gpus/0000:65:00.0");
  EXPECT_THAT(found(), HasSubstr("the GPU is gone"));
}

TEST_F(LostGpu, AMissingHostNodeOrDriverIsFound) {
  host_.without("/dev/nvidia0");
  EXPECT_THAT(found(), HasSubstr("the host has no such device node"));
  host_.without("/sys/module/nvidia").file("/proc/modules", "");
  EXPECT_THAT(found(), HasSubstr("no NVIDIA driver is loaded"));
}

TEST_F(LostGpu, NodesOfADriverContainerAreFoundThere) {
  host_.without("/dev/nvidia0").without("/dev/nvidiactl");
  host_.device("/run/nvidia/driver/dev/nvidia0", 195, 0).device("/run/nvidia/driver/dev/nvidiactl", 195, 255);
  EXPECT_EQ(found(), "");
}

TEST_F(LostGpu, OutdatedLibrariesAreFound) {
  const std::string head = "700 600 8:1 ";
  process(head + "/usr/lib/libcuda.so.535.261.03 /usr/lib/libcuda.so.535.261.03 ro - ext4 /dev/sda1 ro\n");
  EXPECT_EQ(found(), "");
  process(head + "/usr/lib/libcuda.so.525.60.13//deleted /usr/lib/libcuda.so.1 ro - ext4 /dev/sda1 ro\n");
  EXPECT_THAT(found(), AllOf(HasSubstr("libraries of 525.60.13, driver 535.261.03"), HasSubstr("was replaced")));
}

TEST_F(LostGpu, AContainerWithoutItsRequestedGpusIsFound) {
  Json config = legacy_config("GPU-1");
  config.erase("hooks");
  container(config);
  EXPECT_THAT(found(), AllOf(HasSubstr("NVIDIA_VISIBLE_DEVICES=GPU-1"), HasSubstr("did not get it"),
                             HasSubstr("runtimeClassName: nvidia")));
  config["process"]["env"] = {"NVIDIA_VISIBLE_DEVICES=all"};  // as in every CUDA image
  container(config);
  EXPECT_EQ(found(), "");
  config["annotations"]["cdi.k8s.io/nvidia-device-plugin_1"] = "nvidia.com/gpu=GPU-1";
  container(config);
  EXPECT_THAT(found(), HasSubstr("cdi.k8s.io/nvidia-device-plugin_1=nvidia.com/gpu=GPU-1"));
}

TEST_F(LostGpu, AMountedNodeWithoutARuleIsFound) {
  Json config = cdi_config();
  config["linux"]["devices"] = Json::array();
  config["mounts"] = {{{"destination", "/dev/nvidia0"}, {"source", "/dev/nvidia0"}, {"type", "bind"}}};
  container(config);
  rules("c 1:3 rwm\n");
  EXPECT_THAT(found(), HasSubstr("the node is mounted into the container"));
}

TEST_F(LostGpu, APrivilegedContainerCountsOnlyWhenItAsks) {
  Json config = cdi_config();
  config["linux"]["resources"]["devices"] = {{{"allow", true}, {"access", "rwm"}}};
  container(config);
  kernel_.nodes.clear();
  EXPECT_EQ(found(), "");
  config["process"]["env"] = {"NVIDIA_VISIBLE_DEVICES=0"};
  container(config);
  EXPECT_THAT(found(), HasSubstr("no longer in the container's /dev"));
}

TEST_F(LostGpu, TextOfAPodsAuthorIsEscaped) {
  Json config = cdi_config();
  config["annotations"]["io.kubernetes.cri.sandbox-name"] =
      "x\x1b[2J\nfail driver: all is lost" + std::string(9000, 'y');
  config["linux"]["devices"].push_back(device("/dev/nvidia0\x1b]0;x", 195, 9));
  container(config);
  rules("");
  const std::string text = found();
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\nfail driver"))));
  EXPECT_LT(text.size(), 4000U);
}

TEST_F(LostGpu, InvalidConfigurationsAreHandled) {
  for (const std::string text :
       {"", "nvidia", "[\"nvidia\"]", "{\"linux\": \"nvidia\"}",
        "{\"linux\": {\"devices\": [1, \"nvidia\", {\"path\": 1}]}}",
        "{\"annotations\": [\"nvidia\"], \"hooks\": {\"prestart\": {}}, \"process\": {\"env\": \"nvidia\"}}",
        "{\"linux\": {\"devices\": [{\"path\": \"/dev/nvidia0\", \"type\": \"c\", \"major\": -5}]}}"}) {
    host_.file(kTask + "/config.json", text);
    EXPECT_THAT(found(), Not(HasSubstr("lost-gpu"))) << text;
  }
  host_.file(kTask + "/config.json", std::string(300000, '[') + "nvidia");
  EXPECT_THAT(found(), HasSubstr("not-exercised runtime.containers: it is not known whether all containers reach their "
                                 "GPUs: the configuration of 1 cannot be read"));
}

TEST_F(LostGpu, RulesThatTheKernelDoesNotShowAreReportedToBeUnknown) {
  host_.file("/proc/" + std::to_string(kPid) + "/cgroup", "0::" + kGroup + "\n");
  EXPECT_THAT(found(), AllOf(HasSubstr("the kernel does not show the device rules of pod team-a/train-0"),
                             Not(HasSubstr("lost-gpu"))));
}

/// "r0 = ANSWER; exit"
DeviceProgram answering(int answer) {
  bpf_insn move{};
  move.code = BPF_ALU64 | BPF_MOV | BPF_K;
  move.imm = answer;
  bpf_insn end{};
  end.code = BPF_JMP | BPF_EXIT;
  return {move, end};
}

TEST_F(LostGpu, TheProgramsOfCgroup2AreUsed) {
  host_.file("/proc/" + std::to_string(kPid) + "/cgroup", "0::" + kGroup + "\n");
  kernel_.program = answering(1);
  EXPECT_EQ(found(), "");
  kernel_.program = answering(0);
  EXPECT_THAT(found(), HasSubstr("another program has rewritten the rules"));
  scope("DeviceAllow=/dev/char/1:3 rwm\n");
  EXPECT_THAT(found(), HasSubstr("systemd's device list of the container's scope lacks the device"));
  kernel_.program = DeviceProgram{answering(1).front()};  // without an end
  EXPECT_THAT(found(), AllOf(HasSubstr("does not show the device rules"), Not(HasSubstr("lost-gpu"))));
}

// No device rules apply to them, so a finding about them would be false.
TEST_F(LostGpu, ContainersOfUsersWithoutRootAreCountedAndNothingElse) {
  const std::string mounts = "901 900 0:5 /nvidia0 /dev/nvidia0 rw - devtmpfs udev rw\n";
  host_.file("/run/user/1000/crun/a/status", Json{{"pid", 77}, {"bundle", "/etc/shadow"}}.dump());
  host_.file("/run/user/1000/runc/b/state.json", Json{{"init_process_pid", 78}}.dump());
  host_.file("/run/user/1001/crun/c/status", "{\"pid\": -1}").file("/run/user/1001/crun/d/status", "no JSON");
  host_.file("/proc/78/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
  EXPECT_EQ(found(), "") << "none of them has a GPU";
  host_.file("/proc/77/mountinfo", mounts);
  EXPECT_THAT(found(), AllOf(HasSubstr("not-exercised runtime.containers"),
                             HasSubstr("1 container of other users is not checked"), Not(HasSubstr("lost-gpu"))));
}

// The node is in the virtual machine, and not in the files of the shim's process.
TEST_F(LostGpu, ContainersInVirtualMachinesAreCountedAndNothingElse) {
  kernel_.nodes.clear();
  host_.file(kTask + "/shim-binary-path", "/usr/bin/containerd-shim-kata-v2");
  const std::string unseen =
      "not-exercised runtime.containers: it is not known whether all containers reach their GPUs: the nodes of 1 are "
      "not in this machine's files";
  EXPECT_THAT(found(), AllOf(HasSubstr(unseen), Not(HasSubstr("lost-gpu"))));
  host_.file(kTask + "/shim-binary-path", "/usr/bin/containerd-shim-runc-v2");
  EXPECT_THAT(found(), HasSubstr("lost-gpu"));
  host_.without(kTask + "/init.pid");
  EXPECT_EQ(found(), "") << "runc is about to start it";
  host_.without(kTask + "/shim-binary-path");  // an older containerd; Kata's shim does not write the other file
  EXPECT_THAT(found(), AllOf(HasSubstr(unseen), Not(HasSubstr("lost-gpu"))));
}

TEST_F(LostGpu, HundredsOfContainersAreOneFinding) {
  host_.without(kTask);
  for (int i = 0; i < 200; ++i) {
    const std::string id = "job" + std::to_string(i);
    host_.file("/run/crun/" + id + "/status", Json{{"pid", kPid}, {"bundle", "/srv/bundle"}}.dump());
  }
  host_.file("/srv/bundle/config.json", cdi_config().dump());
  rules("");
  const std::string text = found();
  EXPECT_THAT(text, AllOf(HasSubstr("200 running containers cannot reach"), HasSubstr("and 197 more")));
  EXPECT_LT(text.size(), 2000U);
}

TEST_F(LostGpu, AReusedProcessIdIsNotTheContainer) {
  rules("");
  host_.file("/proc/" + std::to_string(kPid) + "/cgroup",
             "0::/system.slice/docker-" + std::string(64, 'b') + ".scope\n");
  EXPECT_EQ(found(), "");
}

TEST_F(LostGpu, ContainersOfRuncAndCrunAreFoundAndManyAreCounted) {
  host_.without(kTask);
  for (int i = 0; i < 5; ++i) {
    const unsigned pid = 100U + static_cast<unsigned>(i);
    const std::string id = "job" + std::to_string(i);
    const std::string bundle = "/srv/" + id;
    host_.file(bundle + "/config.json", [] {
      Json config = cdi_config();
      config.erase("annotations");
      return config.dump();
    }());
    if (i < 3)
      host_.file("/run/runc/" + id + "/state.json",
                 Json{{"init_process_pid", pid}, {"config", {{"labels", {"bundle=" + bundle}}}}}.dump());
    else
      host_.file("/run/crun/" + id + "/status", Json{{"pid", pid}, {"bundle", bundle}}.dump());
    host_.file("/proc/" + std::to_string(pid) + "/cgroup", "3:devices:/job\n");
  }
  host_.file("/sys/fs/cgroup/devices/job/devices.list", "c 1:3 rwm\n");
  for (unsigned pid = 100; pid < 105; ++pid) {
    kernel_.nodes[{pid, "/dev/nvidia0"}] = {195, 0};
    kernel_.nodes[{pid, "/dev/nvidiactl"}] = {195, 255};
  }
  EXPECT_THAT(found(), AllOf(HasSubstr("5 running containers cannot reach a GPU that they were given"),
                             HasSubstr("container job0: /dev/nvidia0 (195:0)"), HasSubstr("and 2 more")));
}

TEST(ScopeTest, OnlyNamesOfUnitsAreTaken) {
  EXPECT_EQ(scope_of("/a.slice/docker-1.scope/init.scope"), "docker-1.scope");
  EXPECT_EQ(scope_of("/a.slice/x'; reboot #.scope"), "");
  EXPECT_EQ(scope_of("/a.slice/--root=x.scope"), "");
  EXPECT_EQ(scope_of("/kubepods/pod1/2"), "");
}

TEST(ScopeTest, ListsAreReadAsSystemdReadsThem) {
  FakeHost host;
  host.device("/dev/nvidia0", 195, 0).device_major("nvidia-uvm", 511);
  const auto allows = [&](const std::string& lines, DeviceNumber number) {
    host.file("/run/systemd/transient/a.scope", lines);
    return read_scope(host, "a.scope").allow(number, host);
  };
  EXPECT_FALSE(read_scope(host, "a.scope").known);
  EXPECT_TRUE(allows("DevicePolicy=auto\nDeviceAllow=\n", {195, 0}));
  EXPECT_FALSE(allows("DevicePolicy=strict\n", {195, 0}));
  EXPECT_FALSE(allows("DevicePolicy=strict\nDeviceAllow=/dev/char/195:0 rw\nDeviceAllow=\n", {195, 0}));
  EXPECT_FALSE(allows("DeviceAllow=/dev/char/195:0 r\n", {195, 0}));
  for (const char* each : {"/dev/char/195:0 rw", "char-195 rwm", "char-* rwm", "/dev/nvidia0 rw"})
    EXPECT_TRUE(allows("DevicePolicy=strict\nDeviceAllow=" + std::string(each) + "\n", {195, 0})) << each;
  EXPECT_TRUE(allows("DevicePolicy=strict\nDeviceAllow=char-nvidia-uvm rw\n", {511, 1}));
  host.file("/run/systemd/system.control/a.scope.d/50-DeviceAllow.conf",
            "[Scope]\nDeviceAllow=\nDeviceAllow=char-1 rw\n");
  EXPECT_FALSE(allows("DevicePolicy=strict\nDeviceAllow=/dev/char/195:0 rw\n", {195, 0}));
}

TEST(KernelTest, FileSystemsAreFoundByTheirMount) {
  const std::string mounts = "23 1 0:5 / /proc rw shared:1 - proc proc rw\n230 1 0:6 / /a\\040- rw - fuse.x x rw\n";
  EXPECT_EQ(type_of_mount(mounts, 23), "proc");
  EXPECT_EQ(type_of_mount(mounts, 230), "fuse.x");
  EXPECT_EQ(type_of_mount(mounts, 3), "");
}

TEST(KernelTest, NodesOfAProcessAreSeenAndNoLinkIsFollowed) {
  const RunningKernel kernel("");
  const auto pid = static_cast<unsigned>(::getpid());
  std::ifstream file("/proc/self/mountinfo");
  const std::string mounts(std::istreambuf_iterator<char>(file), {});
  const Place null = kernel.place(pid, mounts, "/dev/null");
  ASSERT_EQ(null.kind, Place::Kind::device);
  EXPECT_EQ(null.number, (DeviceNumber{1, 3}));
  EXPECT_EQ(kernel.place(pid, mounts, "/dev/nothing/here").kind, Place::Kind::missing);
  EXPECT_NE(kernel.place(pid, mounts, "/dev/stdin").kind, Place::Kind::device);
  EXPECT_EQ(kernel.place(pid, mounts, "/dev/../dev/null").kind, Place::Kind::unseen);
  EXPECT_EQ(kernel.place(pid, mounts, "/proc/self/status").kind, Place::Kind::unseen);
  EXPECT_EQ(kernel.place(pid, "", "/dev/null").kind, Place::Kind::unseen);  // no file system is known to be local
}

}  // namespace
}  // namespace slipway::toolkit
