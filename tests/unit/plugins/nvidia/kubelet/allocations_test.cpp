// SPDX-License-Identifier: Apache-2.0
// The holders of a device, from kubelet's list of pods and its checkpoint together: init containers count, pods that
// have ended do not.
#include "nvidia/kubelet/allocations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/kubelet/gpu_pods.hpp"
#include "slipway/kubelet/podresources_v1.pb.h"

namespace slipway::nvidia::kubelet {
namespace {

using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kGpu = "nvidia.com/gpu";
constexpr const char* kGroups = "/sys/fs/cgroup";
const std::string kUid = "5c1b0a9e-1111-2222-3333-444455556666";
const std::string kOther = "0f3a1b2c-1111-2222-3333-444455556666";

/// Returns the allocations as texts: "team/minit prep nvidia.com/gpu GPU-5 init checkpoint".
std::vector<std::string> texts_of(const std::vector<Allocation>& all) {
  std::vector<std::string> texts;
  for (const Allocation& each : all)
    texts.push_back((each.pod_namespace.empty() ? "" : each.pod_namespace + "/") + each.pod + " " + each.container +
                    " " + each.id + (each.init_container ? " init" : "") + (each.from_checkpoint ? " checkpoint" : "") +
                    (each.mps ? " mps" : ""));
  return texts;
}

/// A node with kubelet's folders; kubelet lists pods of the namespace "team".
class Machine {
 public:
  Machine() { host_.directory("/var/lib/kubelet/pods"); }

  /// Adds a pod that exists: its folders, and its control group unless it has ended.
  Machine& pod(const std::string& name, const std::string& uid, bool runs = true) {
    host_.directory("/var/log/pods/team_" + name + "_" + uid);
    host_.directory("/var/lib/kubelet/pods/" + uid);
    host_.file(std::string(kGroups) + "/cgroup.controllers", "");
    host_.directory(std::string(kGroups) + "/kubepods.slice");
    if (runs) host_.directory(group_of(uid));
    return *this;
  }
  /// Adds a running container of the pod.
  Machine& runs(const std::string& name, const std::string& uid, const std::string& container) {
    const std::string id(64, static_cast<char>('0' + ++count_ % 10));
    host_.directory(group_of(uid) + "/cri-containerd-" + id + ".scope");
    host_.file("/var/log/containers/" + name + "_team_" + container + "-" + id + ".log", "");
    return *this;
  }
  Machine& lists(const std::string& pod, const std::string& container, const std::string& id = {}) {
    answers_ = true;
    auto found = std::ranges::find(listed_, pod, &ListedPod::name);
    if (found == listed_.end()) found = listed_.insert(listed_.end(), ListedPod{"team", pod, {}});
    found->containers.push_back({container, {}});
    if (!id.empty()) found->containers.back().devices.push_back({kGpu, id});
    return *this;
  }
  Machine& lists_nothing() {
    answers_ = true;
    return *this;
  }
  Machine& saved(const std::string& uid, const std::string& container, const std::string& id) {
    checkpoint_.entries.push_back({uid, container, kGpu, {id}});
    return *this;
  }
  FakeHost& host() { return host_; }
  std::vector<Allocation> all() {
    PodTraces traces(host_, "/var/lib/kubelet");
    return merge(answers_ ? &listed_ : nullptr, checkpoint_, traces);
  }
  std::vector<std::string> found() { return texts_of(all()); }

 private:
  static std::string group_of(const std::string& uid) {
    std::string name = uid;
    std::ranges::replace(name, '-', '_');
    return std::string(kGroups) + "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + name + ".slice";
  }
  FakeHost host_;
  std::vector<ListedPod> listed_;
  Checkpoint checkpoint_;
  bool answers_ = false;
  int count_ = 0;
};

TEST(PodLists, AreReadPodByPod) {
  v1::ListPodResourcesResponse list;
  auto* const pod = list.add_pod_resources();
  pod->set_namespace_("team");
  pod->set_name("a");
  auto* const container = pod->add_containers();
  container->set_name("cuda");
  auto* const devices = container->add_devices();
  devices->set_resource_name(kGpu);
  devices->add_device_ids("GPU-1");
  list.add_pod_resources()->set_name(std::string(300, 'x'));
  const auto pods = parse_pods(list.SerializeAsString());
  ASSERT_TRUE(pods.ok());
  ASSERT_THAT(*pods, SizeIs(1));
  EXPECT_EQ(pods->front().containers.at(0).devices.at(0).id, "GPU-1");
  EXPECT_FALSE(parse_pods("no protobuf at all").ok());
}

TEST(Allocations, AreReadFromKubelet) {
  Machine machine;
  machine.pod("a", kUid).lists("a", "cuda", "GPU-1").saved(kUid, "cuda", "GPU-1");
  EXPECT_THAT(machine.found(), ElementsAre("team/a cuda GPU-1"));
}

// kubelet's pod resources API leaves init containers out. Before the fix, the layout of a GPU was changed while one
// used it.
TEST(Allocations, OfAnInitContainerAreInTheCheckpointAlone) {
  Machine machine;
  machine.pod("minit", kUid).lists("minit", "main").saved(kUid, "prep", "GPU-5");
  EXPECT_THAT(machine.found(), ElementsAre("team/minit prep GPU-5 init checkpoint")) << "it has not begun yet";
  machine.runs("minit", kUid, "prep");
  EXPECT_THAT(machine.found(), ElementsAre("team/minit prep GPU-5 init checkpoint"));
}

TEST(Allocations, OfAnInitContainerAreOverOnceTheContainersBehindItRun) {
  Machine machine;
  machine.pod("minit", kUid).lists("minit", "main").lists("minit", "logger").saved(kUid, "prep", "GPU-5");
  machine.runs("minit", kUid, "logger");
  EXPECT_THAT(machine.found(), SizeIs(1)) << "a sidecar runs before the init containers end";
  machine.runs("minit", kUid, "main");
  EXPECT_THAT(machine.found(), IsEmpty());
}

TEST(Allocations, OfAnInitContainerLastWhileTheRunningContainersAreUnknown) {
  Machine machine;
  machine.host().directory("/var/log/pods/team_minit_" + kUid);
  machine.lists("minit", "main").saved(kUid, "prep", "GPU-5");
  EXPECT_THAT(machine.found(), ElementsAre("team/minit prep GPU-5 init checkpoint"));
}

// The device of an init container goes to the containers after it, and kubelet lists it as theirs from the start.
TEST(Allocations, GoFromAnInitContainerToTheContainerBehindIt) {
  Machine machine;
  machine.pod("p", kUid).lists("p", "main", "GPU-5").saved(kUid, "prep", "GPU-5").saved(kUid, "main", "GPU-5");
  EXPECT_THAT(machine.found(), ElementsAre("team/p main GPU-5"));
  machine.runs("p", kUid, "prep");
  EXPECT_THAT(machine.found(), ElementsAre("team/p prep GPU-5 init checkpoint"));
}

// kubelet removes the entries of a pod from its checkpoint only with the next allocation, which may be days later.
TEST(Allocations, OfAPodThatHasEndedAreOver) {
  Machine machine;
  machine.pod("other", kOther).lists("other", "main");
  machine.pod("job", kUid, false).saved(kUid, "main", "GPU-1");
  EXPECT_THAT(machine.found(), IsEmpty()) << "its folders are there as long as the pod is not deleted";
}

TEST(Allocations, OfAPodThatIsDeletedAreOverWhetherKubeletAnswersOrNot) {
  Machine machine;
  machine.saved(kUid, "main", "GPU-1");
  EXPECT_THAT(machine.found(), IsEmpty()) << "kubelet does not run";
  machine.lists_nothing();
  EXPECT_THAT(machine.found(), IsEmpty());
}

// A kubelet that has just started without the API server lists only static pods, while all containers run on.
TEST(Allocations, OfAPodThatKubeletDoesNotKnowAgainYetCount) {
  Machine machine;
  machine.pod("job", kUid).saved(kUid, "main", "GPU-1").lists_nothing();
  EXPECT_THAT(machine.found(), ElementsAre("team/job main GPU-1 checkpoint")) << "its control group is there";
  Machine rebooted;
  rebooted.pod("job", kUid, false).saved(kUid, "main", "GPU-1");
  rebooted.pod("apiserver", std::string(32, 'a')).lists("apiserver", "main");
  rebooted.host().directory("/var/lib/kubelet/pods/" + kUid + "/volumes/kubernetes.io~projected/token");
  EXPECT_THAT(rebooted.found(), ElementsAre("team/job main GPU-1 checkpoint")) << "kubelet starts it once it knows it";
}

// Before the fix, the only pod of a node, which had ended but was not deleted, kept its GPU for as long as its object
// existed.
TEST(Allocations, OfTheOnlyPodOfANodeAreOverOnceItHasEnded) {
  Machine machine;
  machine.pod("job", kUid, false).saved(kUid, "main", "GPU-1").lists_nothing();
  machine.host().directory("/var/lib/kubelet/pods/" + kUid + "/volumes/kubernetes.io~projected");
  EXPECT_THAT(machine.found(), IsEmpty()) << "kubelet has taken its volumes away";
}

// Before the fix, with a kubelet without cgroupsPerQOS or a slipway in a container, the pod that had ended kept its GPU
// too.
TEST(Allocations, OfTheOnlyPodOfANodeAreOverWhereNoControlGroupsAreSeen) {
  Machine machine;
  machine.pod("job", kUid, false).saved(kUid, "main", "GPU-1").lists_nothing();
  machine.host().without(std::string(kGroups) + "/kubepods.slice");
  EXPECT_THAT(machine.found(), IsEmpty());
  machine.host().directory("/var/lib/kubelet/pods/" + kUid + "/volumes/kubernetes.io~projected/token");
  EXPECT_THAT(machine.found(), ElementsAre("team/job main GPU-1 checkpoint"))
      << "kubelet may start it once it knows it";
}

TEST(Allocations, OfAPodCountWhileKubeletDoesNotRun) {
  Machine machine;
  machine.pod("job", kUid, false).saved(kUid, "main", "GPU-1").saved("5c1b-uid", "x", "GPU-2");
  EXPECT_THAT(machine.found(), ElementsAre("team/job main GPU-1 checkpoint"));
  machine.host().without("/var/lib/kubelet/pods");
  EXPECT_THAT(machine.found(), ElementsAre("5c1b-uid x GPU-2 checkpoint", "team/job main GPU-1 checkpoint"))
      << "whether the pods exist cannot be seen";
}

TEST(Allocations, OfAFormerPodOfTheSameNameAreOver) {
  Machine machine;
  machine.pod("train-0", kUid, false).saved(kUid, "main", "GPU-1").saved(kUid, "prep", "GPU-2");
  machine.pod("train-0", kOther).lists("train-0", "main", "GPU-3").saved(kOther, "main", "GPU-3");
  EXPECT_THAT(machine.found(), ElementsAre("team/train-0 main GPU-3"));
}

TEST(Allocations, OfAPodWithoutFolderOfLogsAreFoundByTheirContainer) {
  Machine machine;
  machine.lists("a", "cuda", "GPU-1").saved(kUid, "cuda", "GPU-1").saved(kUid, "prep", "GPU-2");
  EXPECT_THAT(machine.found(), ElementsAre("team/a cuda GPU-1"));
  machine.host().directory("/var/lib/kubelet/pods/" + kUid);
  EXPECT_THAT(machine.found(), ElementsAre(kUid + " prep GPU-2 checkpoint", "team/a cuda GPU-1"));
}

TEST(Allocations, AreMergedQuicklyWhenThereAreMany) {
  Machine machine;
  machine.pod("a", kUid);
  for (int i = 0; i < 20000; ++i) {
    machine.lists("a", "c", "GPU-1::" + std::to_string(i));
    machine.saved(kUid, "c", "GPU-1::" + std::to_string(i));
  }
  EXPECT_THAT(machine.all(), SizeIs(20000));
}

TEST(AllocationReaders, ExplainPossibleOmissions) {
  FakeHost host;
  AllocationReader reader(host, kPodResourcesSocket);
  Allocations found = reader.read();
  EXPECT_THAT(found.all, IsEmpty());
  EXPECT_EQ(found.incomplete, "") << "there is no kubelet";
  ASSERT_TRUE(found.silent);
  EXPECT_EQ(found.silent->code, ErrorCode::not_found);
  const std::string file = checkpoint_file("/var/lib/kubelet");
  host.file(file, "{}");
  found = reader.read();
  EXPECT_EQ(
      found.incomplete,
      "kubelet does not run, and its list of devices cannot be read: kubelet's list of devices has an unknown format");
  host.file(file, R"({"Data": {"PodDeviceEntries": [{"PodUID": "u", "ContainerName": "c", "ResourceName": "r",
      "DeviceIDs": ["GPU-1"]}]}})");
  found = reader.read();
  EXPECT_EQ(found.incomplete, "");
  EXPECT_THAT(texts_of(found.all), ElementsAre("u c GPU-1 checkpoint"));
}

}  // namespace
}  // namespace slipway::nvidia::kubelet
