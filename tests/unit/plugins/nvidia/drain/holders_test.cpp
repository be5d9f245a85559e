// SPDX-License-Identifier: Apache-2.0
// The holders of a GPU: NVML's list on a simulated machine, and open files in a tree of /proc.
#include "nvidia/drain/holders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "sim/state/mig_rules.hpp"
#include "sim/view/driver.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::nvidia::drain {
namespace {

using slipway::testing::FakeHost;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Holders : public sim::SimTest {
 protected:
  void SetUp() override {
    make("h100x2,mig=3g.40gb");
    host_.file("/proc/driver/nvidia-caps/mig-minors", sim::sim_minors_table());
  }
  Affected gpu(unsigned index, bool whole) {
    const auto device = nvml::device_at(*nvml_, index);
    EXPECT_TRUE(device.ok());
    return {
        .device = *device, .text = "GPU " + std::to_string(index), .whole = whole, .parts = {}, .with_daemons = false};
  }
  void process(unsigned pid, const std::string& name, unsigned parent = 1) {
    host_.file("/proc/" + std::to_string(pid) + "/stat", std::to_string(pid) + " (" + name + ") S " +
                                                             std::to_string(parent) +
                                                             " 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 55 1 2\n");
  }
  void opens(unsigned pid, const std::string& node) { host_.link("/proc/" + std::to_string(pid) + "/fd/3", node); }
  /// Creates a process that has the first GPU open.
  void daemon(unsigned pid, const std::string& name, const std::string& program, unsigned user) {
    process(pid, name);
    opens(pid, "/dev/nvidia0");
    const std::string folder = "/proc/" + std::to_string(pid);
    const std::string uid = "\t" + std::to_string(user);
    host_.link(folder + "/exe", program).file(folder + "/status", "Name:\tx\nUid:" + uid + uid + uid + uid + "\n");
  }
  std::vector<std::string> found(const std::vector<Affected>& affected) {
    std::vector<std::string> texts;
    for (const auto& each : find_holders(*nvml_, host_, affected))
      for (std::string& text : texts_of(each)) texts.push_back(std::move(text));
    return texts;
  }
  FakeHost host_;
};

TEST_F(Holders, AreThoseThatNvmlListsAndThoseThatOnlyHoldADeviceOpen) {
  ASSERT_EQ(tool("process add 0 71 10 compute /usr/bin/trainer"), 0);
  ASSERT_EQ(tool("process add 1 72 10 compute other"), 0);
  process(73, "exporter");
  opens(73, "/dev/nvidia0");
  process(74, "elsewhere");
  opens(74, "/dev/nvidia1");
  EXPECT_THAT(found({gpu(0, true)}), ElementsAre("trainer (pid 71) on GPU 0", "exporter (pid 73) on GPU 0"));
  EXPECT_EQ(found({gpu(0, true), gpu(1, true)}).size(), 4U);
  EXPECT_THAT(found({gpu(0, false)}), IsEmpty()) << "nothing of it is affected";
}

TEST_F(Holders, OfInstancesAreOnAffectedInstances) {
  Affected part = gpu(0, false);
  part.parts = {{.gpu_instance = 1, .compute_instance = {}, .text = "3g.40gb at 0", .affected = true},
                {.gpu_instance = 2, .compute_instance = {}, .text = "3g.40gb at 4", .affected = false}};
  ASSERT_EQ(tool("process add 0 71 10 compute one 1 0"), 0);
  ASSERT_EQ(tool("process add 0 72 10 compute two 2 0"), 0);
  process(73, "opens");
  opens(73, "/dev/nvidia-caps/nvidia-cap" + std::to_string(sim::capability_minor(0, 1, 0)));
  process(74, "opens-the-other");
  opens(74, "/dev/nvidia-caps/nvidia-cap" + std::to_string(sim::capability_minor(0, 2, 0)));
  process(75, "watches");
  opens(75, "/dev/nvidia0");
  EXPECT_THAT(found({part}), ElementsAre("one (pid 71) on 3g.40gb at 0", "opens (pid 73) on 3g.40gb at 0"));
  part.whole = true;
  EXPECT_EQ(found({part}).size(), 4U) << "the second instance is named as well";
}

// Drivers that report no instances, and a GPU that a program uses as a whole: neither may lose its users.
TEST_F(Holders, OfInstancesIncludeThoseWithoutAnInstance) {
  Affected changing = gpu(0, false);
  changing.parts = {{.gpu_instance = 2, .compute_instance = {}, .text = "3g.40gb at 4", .affected = false}};
  ASSERT_EQ(tool("process add 0 71 10 compute somewhere"), 0);
  ASSERT_EQ(tool("process add 0 72 10 compute two 2 0"), 0);
  EXPECT_THAT(found({changing}), IsEmpty()) << "no instance changes";
  changing.instances_change = true;
  EXPECT_THAT(found({changing}), ElementsAre("somewhere (pid 71) on GPU 0"));
}

class GivenDevices : public Holders {
 protected:
  /// Returns the UUID of the first MIG device of the first GPU.
  std::string mig_uuid() {
    const auto devices = nvml::mig_devices(*nvml_, *nvml::device_at(*nvml_, 0));
    return nvml::device_uuid(*nvml_, devices->at(0)).value_or("");
  }
  Affected parts(bool first_is_affected) {
    Affected affected = gpu(0, false);
    affected.parts = {
        {.gpu_instance = 1, .compute_instance = {}, .text = "3g.40gb at 0", .affected = first_is_affected},
        {.gpu_instance = 2, .compute_instance = {}, .text = "3g.40gb at 4", .affected = true}};
    return affected;
  }
  std::vector<std::string> found_with(const Affected& affected, const PodHolders& given) {
    return texts_of(find_holders(*nvml_, host_, {affected}, given).front());
  }
};

TEST_F(GivenDevices, AreHeldByPodsWithoutAProcess) {
  const PodHolders given{
      .holders = {{mig_uuid(), {{"team-a", "train-0", "trainer", ""}, {"team-a", "train-1", "c", "3"}}}}};
  EXPECT_THAT(
      found_with(parts(true), given),
      ElementsAre(
          "pod team-a/train-0, container trainer (kubelet gave it the device; no process was found) on 3g.40gb at 0",
          "pod team-a/train-1, container c (kubelet gave it the device; no process was found) on 3g.40gb at 0"));
  EXPECT_THAT(found_with(parts(false), given), IsEmpty()) << "that instance stays";
  EXPECT_EQ(found_with(gpu(0, true), {.holders = {{nvml::device_uuid(*nvml_, *nvml::device_at(*nvml_, 0)).value_or(""),
                                                   {{"evil\x1b]0;", "a", "b", ""}}}}})
                .at(0),
            "pod evil?]0;/a, container b (kubelet gave it the device; no process was found) on GPU 0");
}

TEST_F(GivenDevices, AreHeldByTheProcessWhereThePodHasOne) {
  const std::string id(64, 'a');
  ASSERT_EQ(tool("process add 0 71 10 compute one 1 0"), 0);
  process(71, "one");
  host_.file("/proc/71/cgroup", "0::/kubepods.slice/cri-containerd-" + id + ".scope\n");
  host_.file("/var/log/containers/train-0_team-a_trainer-" + id + ".log", "");
  const PodHolders given{
      .holders = {{mig_uuid(), {{"team-a", "train-0", "trainer", ""}, {"team-a", "train-0", "side", ""}}}}};
  const auto texts = found_with(parts(true), given);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_TRUE(texts[0].starts_with("one (pid 71, pod team-a/train-0, container trainer")) << texts[0];
  EXPECT_TRUE(texts[1].starts_with("pod team-a/train-0, container side")) << texts[1];
}

TEST_F(GivenDevices, ThatKubeletHidesMayBeAny) {
  const PodHolders given{.holders = {}, .problem = "kubelet does not\nanswer", .next = "look at kubelet"};
  const auto holders = find_holders(*nvml_, host_, {parts(true), gpu(1, false)}, given);
  EXPECT_THAT(texts_of(holders[0]), ElementsAre("a pod, perhaps, on GPU 0: kubelet does not?answer"));
  EXPECT_EQ(how_to_end(holders[0]), "look at kubelet");
  EXPECT_THAT(holders[1], IsEmpty()) << "nothing is taken from anybody there";
}

TEST_F(Holders, AreListedForEachGpu) {
  process(71, "both");
  host_.link("/proc/71/fd/3", "/dev/nvidia0");
  host_.link("/proc/71/fd/4", "/dev/nvidia1");
  EXPECT_THAT(found({gpu(0, true), gpu(1, true)}), ElementsAre("both (pid 71) on GPU 0", "both (pid 71) on GPU 1"));
}

TEST_F(Holders, AreNamedOnceAndCleanly) {
  ASSERT_EQ(tool("process add 0 71 10 compute a"), 0);
  ASSERT_EQ(tool("process add 0 71 10 graphics a"), 0);
  process(71, "evil\x1b]0;x");
  opens(71, "/dev/nvidia0");
  EXPECT_THAT(found({gpu(0, true)}), ElementsAre("evil?]0;x (pid 71) on GPU 0"));
}

TEST_F(Holders, AreNotSlipwaysOwnProcesses) {
  const auto own = static_cast<unsigned>(::getpid());
  process(own, "slipway-worker");
  opens(own, "/dev/nvidia0");
  process(81, "child", own);
  opens(81, "/dev/nvidia0");
  process(82, "grandchild", 81);
  opens(82, "/dev/nvidia0");
  process(83, "job", 1);
  opens(83, "/dev/nvidia0");
  EXPECT_THAT(found({gpu(0, true)}), ElementsAre("job (pid 83) on GPU 0"));
}

// nvidia-persistenced holds every device open on most machines, but the driver still changes the MIG mode.
TEST_F(Holders, AreNotNvidiasDaemonsUntilTheDriverHasRefused) {
  daemon(71, "nvidia-persiste", "/usr/bin/nvidia-persistenced", 0);
  daemon(72, "nv-fabricmanage", "/usr/bin/nv-fabricmanager", 0);
  host_.directory("/run/nvidia-persistenced");  // the user of this test is the user that the daemon runs as
  daemon(73, "nvidia-persiste", "/usr/bin/nvidia-persistenced", ::geteuid());
  Affected affected = gpu(0, true);
  EXPECT_THAT(found({affected}), IsEmpty());
  affected.with_daemons = true;
  EXPECT_EQ(found({affected}).size(), 3U);
}

// Otherwise any process could hide from every drain, and from NVML's list, by naming itself after a daemon.
TEST_F(Holders, AreNotHiddenByTheNameOfADaemon) {
  ASSERT_EQ(tool("process add 0 71 10 compute trainer"), 0);
  daemon(71, "nvidia-persiste", "/usr/bin/nvidia-persistenced", 0);
  process(72, "nvidia-persiste");
  opens(72, "/dev/nvidia0");
  daemon(73, "nvidia-persiste", "/usr/bin/nvidia-persistenced", ::geteuid() + 1);
  daemon(74, "nvidia-persiste", "/home/user/trainer", 0);
  daemon(75, "nv-fabricmanage", "/usr/bin/nvidia-persistenced", 0);
  host_.file("/proc/76/status", "Uid:\t0\t1000\t0\t0\n");
  process(76, "nvidia-persiste");
  opens(76, "/dev/nvidia0");
  host_.link("/proc/76/exe", "/usr/bin/nvidia-persistenced");
  host_.directory("/run/nvidia-persistenced");
  EXPECT_EQ(found({gpu(0, true)}).size(), 6U);
}

// Before the fix, a user with very many open files made each plan and apply run into its deadline.
TEST_F(Holders, MayBeAProcessWithTooManyOpenFilesToCheck) {
  process(71, "hoarder");
  for (int i = 3; i < 8; ++i) host_.link("/proc/71/fd/" + std::to_string(i), i == 7 ? "/dev/nvidia0" : "/dev/null");
  EXPECT_THAT(found({gpu(0, true)}), ElementsAre("hoarder (pid 71) on GPU 0"));
  for (const OpenFileLimits limits : {OpenFileLimits{.of_user = 4}, OpenFileLimits{.in_all = 4}}) {
    const auto holders = find_holders(*nvml_, host_, {gpu(0, true), gpu(1, false)}, {}, limits);
    ASSERT_EQ(holders[0].size(), 1U);
    EXPECT_EQ(holders[0][0].kind, DeviceHolder::Kind::unseen);
    EXPECT_THAT(to_text(holders[0][0]),
                AllOf(HasSubstr("a process, perhaps, on GPU 0: "),
                      HasSubstr("of the user " + std::to_string(::geteuid())), HasSubstr("hoarder (pid 71)")));
    EXPECT_THAT(how_to_end(holders[0]), HasSubstr("stop the process with so many open files: hoarder (pid 71)"));
    EXPECT_THAT(holders[1], IsEmpty()) << "nothing is taken from anybody there";
  }
}

TEST_F(Holders, AreFoundAmongFilesOfAnyKind) {
  process(71, "busy");
  host_.link("/proc/71/fd/0", "/dev/null");
  host_.link("/proc/71/fd/1", "socket:[123]");
  host_.link("/proc/71/fd/9", "/dev/nvidia0");
  host_.file("/proc/self-made/fd/3", "no link");
  host_.file("/proc/99999999999/stat", "noise");
  EXPECT_THAT(found({gpu(0, true)}), ElementsAre("busy (pid 71) on GPU 0"));
}

}  // namespace
}  // namespace slipway::nvidia::drain
