// SPDX-License-Identifier: Apache-2.0
// A process by its files in /proc, whose content users choose.
#include "nvidia/process/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/process/proc_text.hpp>
#include <slipway/testing/fake_host.hpp>

namespace slipway::nvidia {
namespace {

using slipway::testing::FakeHost;

const std::string kId = "3f2a91bc07de4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5";
constexpr const char* kUid = "5c1b0a9e-1111-2222-3333-444455556666";

std::string stat_text(const std::string& name, const std::string& flags = "4194304") {
  return "7 (" + name + ") S 3 7 7 0 -1 " + flags + " 100 0 0 0 1 2 0 0 20 0 1 0 12345 1000 200\n";
}

TEST(ProcessStat, IsReadForAnyNameOfAProgram) {
  for (const char* name : {"python3", "a b", "x) R 1 (y", ")", "((", "a\nb"}) {
    const auto stat = parse_process_stat(stat_text(name));
    ASSERT_TRUE(stat.has_value()) << name;
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 3U);
    EXPECT_EQ(stat->start, 12345U);
    EXPECT_FALSE(stat->kernel_thread);
  }
  EXPECT_EQ(parse_process_stat(stat_text("a\nb\x1b[2J\xff"))->name, "a\nb\x1b[2J\xff");
  EXPECT_EQ(parse_process_stat(stat_text("x"))->session, 7U);
  EXPECT_EQ(parse_process_stat(stat_text("x"))->threads, 1U);
  EXPECT_TRUE(parse_process_stat(stat_text("kworker/0:1", "69238880"))->kernel_thread);
}

TEST(ProcessStat, OfAnotherFormIsNone) {
  for (const char* text :
       {"", "7", "7 (a", "7 (a) S 1 2", "7 )a( S 3 7 7", "7 (a) S x 7 7 0 -1 1 1 0 0 0 1 2 0 0 20 0 1 0 9"})
    EXPECT_FALSE(parse_process_stat(text).has_value()) << text;
}

TEST(ProcessOwner, IsFoundInTheControlGroupsOfEnginesAndSystemd) {
  const std::string pod_dashes = "pod5c1b0a9e-1111-2222-3333-444455556666";
  const std::string pod_underlines = "pod5c1b0a9e_1111_2222_3333_444455556666";
  const struct {
    std::string cgroups;
    Owner owner;
  } cases[] = {
      {"0::/system.slice/slurmd.service", {"slurmd.service", "", "", ""}},
      {"0::/user.slice/user-0.slice/session-3.scope", {"session-3.scope", "", "", ""}},
      {"0::/user.slice/user-0.slice/user@0.service/app.slice/jupyter.service",
       {"user@0.service", "", "", "", "jupyter.service"}},
      {"0::/system.slice/docker-" + kId + ".scope", {"", "docker", kId, ""}},
      {"0::/docker/" + kId, {"", "docker", kId, ""}},
      {"0::/machine.slice/libpod-" + kId + ".scope/container", {"", "podman", kId, ""}},
      {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope",
       {"user@1000.service", "podman", kId, ""}},
      {"0::/system.slice/nerdctl-" + kId + ".scope", {"", "containerd", kId, ""}},
      {"0::/default/" + kId, {"", "", kId, ""}},
      {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-" + pod_underlines + ".slice/cri-containerd-" +
           kId + ".scope",
       {"", "containerd", kId, kUid}},
      {"0::/kubepods.slice/kubepods-" + pod_underlines + ".slice/crio-" + kId + ".scope", {"", "cri-o", kId, kUid}},
      {"0::/kubepods/besteffort/" + pod_dashes + "/" + kId, {"", "", kId, kUid}},
      {"0::/system.slice/k3s.service/kubepods/" + pod_dashes + "/" + kId, {"", "", kId, kUid}},
      {"0::/kubepods/podaaaabbbbccccddddeeeeffff00001111/" + kId, {"", "", kId, "aaaabbbbccccddddeeeeffff00001111"}},
      {"12:memory:/docker/" + kId + "\n1:name=systemd:/docker/" + kId + "\n0::/", {"", "docker", kId, ""}},
      {"3:cpu:/system.slice\n1:name=systemd:/system.slice/slurmd.service\n0::/system.slice/slurmd.service",
       {"slurmd.service", "", "", ""}},
      {"0::/", {}},
      {"", {}},
      {"noise", {}},
      {"0::/podrace/tripod-" + std::string(32, 'x'), {}},
      {"0::/docker-" + kId.substr(1) + ".scope", {"docker-" + kId.substr(1, 57), "", "", ""}},
  };
  for (const auto& each : cases) EXPECT_EQ(owner_of(each.cgroups), each.owner) << each.cgroups;
}

// Before the fix, the owner of a delegated control group could name the groups beneath it freely, and looked like
// another's pod or unit.
TEST(ProcessOwner, IsNotANameThatAUserAServiceOrAContainerChose) {
  const std::string pod = std::string("kubepods.slice/kubepods-pod") + kUid + ".slice/cri-containerd-" + kId + ".scope";
  const std::string other(64, 'a');
  const std::string user = "/user.slice/user-1000.slice/user@1000.service";
  const struct {
    std::string path;
    Owner owner;
  } cases[] = {
      {user + "/" + pod, {"user@1000.service", "containerd", kId, ""}},
      {user + "/app.slice/nvsm.service", {"user@1000.service", "", "", "", "nvsm.service"}},
      {"/user.slice/user-1000.slice/session-3.scope/kubepods/pod" + std::string(kUid), {"session-3.scope", "", "", ""}},
      {"/system.slice/slurmd.service/" + pod, {"slurmd.service", "", "", ""}},
      {"/system.slice/slurmd.service/nvsm.service", {"slurmd.service", "", "", ""}},
      {"/docker/" + other + "/" + pod, {"", "docker", other, ""}},
      {"/kubepods/podaaaabbbbccccddddeeeeffff00001111/" + other + "/" + pod,
       {"", "", other, "aaaabbbbccccddddeeeeffff00001111"}},
      {"/jobs/17/" + pod, {}},
      {"/jobs/17/step/docker/" + kId, {}},
  };
  for (const auto& each : cases) EXPECT_EQ(owner_of("0::" + each.path), each.owner) << each.path;
}

// A container sees the groups outside of its own control group relative to it.
TEST(ProcessOwner, IsFoundFromWithinAContainerToo) {
  const Owner owner{"", "containerd", kId, kUid};
  const std::string pod = std::string("kubepods-burstable-pod") + kUid + ".slice/cri-containerd-" + kId + ".scope";
  EXPECT_EQ(owner_of("0::/../../" + pod), owner);
  EXPECT_EQ(owner_of("0::/../../../kubepods-burstable.slice/" + pod), owner);
  EXPECT_EQ(owner_of("0::/../../../../kubepods.slice/kubepods-burstable.slice/" + pod), owner);
  EXPECT_EQ(owner_of("0::/../cri-containerd-" + kId + ".scope"), (Owner{"", "containerd", kId, ""}));
  EXPECT_EQ(owner_of("0::/../../../../user.slice/user-7.slice/user@7.service/" + pod),
            (Owner{"user@7.service", "containerd", kId, ""}));
}

TEST(Process, OfAUserIsNeverAPod) {
  FakeHost host;
  host.file("/proc/7/stat", stat_text("x"));
  host.file("/var/log/containers/train-0_team-a_trainer-" + kId + ".log", "");
  host.file("/proc/7/cgroup", "0::/user.slice/user-7.slice/user@7.service/user.slice/libpod-" + kId + ".scope");
  EXPECT_EQ(to_text(read_process(host, 7)), "x (pid 7, podman container 3f2a91bc07de of user@7.service)");
  host.file("/proc/7/cgroup", "0::/user.slice/user-7.slice/user@7.service/app.slice/jupyter.service");
  EXPECT_EQ(to_text(read_process(host, 7)), "x (pid 7, jupyter.service of user@7.service)");
}

// Before the fix, the pod's name was truncated where kubelet's own answer was not, so that the pod was listed twice.
TEST(Process, HasThePodsWholeNameOfAnyLength) {
  FakeHost host;
  const std::string name = std::string(40, 'n') + "/" + std::string(253, 'p');
  host.file("/proc/7/stat", stat_text("x"));
  host.file("/proc/7/cgroup", std::string("0::/kubepods/pod") + kUid + "/" + kId);
  host.file("/var/log/containers/" + std::string(150, 'p') + "_team-a_c-" + kId + ".log", "");
  EXPECT_EQ(read_process(host, 7).pod, "team-a/" + std::string(150, 'p'));
  EXPECT_EQ(pod_text(std::string(40, 'n'), std::string(253, 'p')), name);
}

TEST(Process, HasItsPodsNameWhereKubeletLeftIt) {
  FakeHost host;
  host.file("/proc/7/stat", stat_text("python3"));
  host.file("/proc/7/cgroup", std::string("0::/kubepods/besteffort/pod") + kUid + "/" + kId);
  host.file("/proc/stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 9\n");
  EXPECT_EQ(to_text(read_process(host, 7)),
            "python3 (pid 7, pod 5c1b0a9e-1111-2222-3333-444455556666, since 2023-11-14 22:15 UTC)");
  host.directory(std::string("/var/log/pods/team-a_train-0_") + kUid);
  EXPECT_EQ(to_text(read_process(host, 7)), "python3 (pid 7, pod team-a/train-0, since 2023-11-14 22:15 UTC)");
}

// The state under a kubelet that creates no control groups for pods.
TEST(Process, HasTheNamesOfPodAndContainerByTheContainersId) {
  FakeHost host;
  host.file("/proc/7/stat", stat_text("python3"));
  host.file("/proc/7/cgroup", "0::/k8s.io/" + kId);
  host.file("/var/log/containers/other_team-a_trainer-" + kId.substr(1) + "0.log", "");
  EXPECT_EQ(to_text(read_process(host, 7)), "python3 (pid 7, container 3f2a91bc07de)");
  host.file("/var/log/containers/train-0_team-a_trainer-" + kId + ".log", "");
  EXPECT_EQ(to_text(read_process(host, 7)), "python3 (pid 7, pod team-a/train-0, container trainer)");
  host.file("/proc/7/cgroup", std::string("0::/kubepods/besteffort/pod") + kUid + "/" + kId);
  EXPECT_EQ(to_text(read_process(host, 7)), "python3 (pid 7, pod team-a/train-0, container trainer)");
}

TEST(Process, IsNamedByItsContainerOrUnit) {
  FakeHost host;
  host.file("/proc/7/stat", stat_text("x"));
  host.file("/proc/7/cgroup", "0::/system.slice/docker-" + kId + ".scope");
  EXPECT_EQ(to_text(read_process(host, 7)), "x (pid 7, docker container 3f2a91bc07de)");
  host.file("/proc/7/cgroup", "0::/system.slice/a\x1b[31m.service");
  EXPECT_EQ(to_text(read_process(host, 7)), "x (pid 7, a?[31m.service)");
}

TEST(Process, HasANameThatATerminalDoesNotObey) {
  FakeHost host;
  host.file("/proc/7/stat", stat_text("a\nb\x1b[2J\xff"));
  EXPECT_EQ(read_process(host, 7).name, "a?b?[2J?");
}

TEST(MountLines, AreReadWithAndWithoutOptionalFields) {
  const auto mounts = parse_mounts(
      "1 0 8:1 / / rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw\n"
      "2 1 0:22 /a /b\\040c ro - tmpfs none rw,size=4k\nnoise\n3 1 0:23 / /d\n");
  ASSERT_EQ(mounts.size(), 3U);
  EXPECT_EQ(mounts[0].type, "ext4");
  EXPECT_EQ(mounts[0].options, "rw,relatime");
  EXPECT_EQ(mounts[1].device, "0:22");
  EXPECT_EQ(mounts[1].root, "/a");
  EXPECT_EQ(without_escapes(mounts[1].place), "/b c");
  EXPECT_EQ(mounts[1].super_options, "rw,size=4k");
  EXPECT_EQ(mounts[2].place, "/d");
  EXPECT_EQ(mounts[2].type, "");
  EXPECT_EQ(without_escapes("a\\9 b\\04"), "a\\9 b\\04");
}

TEST(Process, ThatIsGoneHasOnlyItsPid) { EXPECT_EQ(to_text(read_process(FakeHost(), 7)), "a process (pid 7)"); }

}  // namespace
}  // namespace slipway::nvidia
