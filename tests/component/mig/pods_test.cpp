// SPDX-License-Identifier: Apache-2.0
// Pods that kubelet has given a GPU or a MIG device, and that have not opened it: no process shows them.
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>

#include "child.hpp"

namespace slipway {
namespace {

using slipway::testing::becomes_true;
using slipway::testing::Child;
using slipway::testing::MigNode;
using slipway::testing::Ran;
using slipway::testing::spawn;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSocket = "var/lib/kubelet/pod-resources/kubelet.sock";

/// Serves kubelet's pod resources API at its usual place, for these containers: NAMESPACE/POD/CONTAINER, resource,
/// device, …
class Kubelet {
 public:
  Kubelet(const MigNode& node, std::vector<std::string> given) : socket_(node.host().path(kSocket).string()) {
    std::filesystem::create_directories(node.host().path(kSocket).parent_path());
    const std::string out = node.host().folder().at("kubelet").string();
    given.insert(given.begin(), {SLIPWAY_KUBELET_PODS, socket_});
    pid_ = spawn({.words = std::move(given), .out = out});
    EXPECT_TRUE(becomes_true([&] { return text_of(out) == "serving\n"; }));
  }
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;
  ~Kubelet() { end(); }
  /// Ends this kubelet, and removes every trace of it.
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    std::filesystem::remove(socket_);
  }

 private:
  static std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string socket_;
  pid_t pid_ = -1;
};

/// A listener at that socket that closes every connection; after its end, a socket without a listener.
class Mute {
 public:
  explicit Mute(const MigNode& node) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    std::filesystem::create_directories(node.host().path(kSocket).parent_path());
    const std::string path = node.host().path(kSocket).string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    EXPECT_LT(path.size(), sizeof address.sun_path);
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    thread_ = std::thread([this] {
      for (int end = -1; (end = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(end)) {
      }
    });
  }
  Mute(const Mute&) = delete;
  Mute& operator=(const Mute&) = delete;
  ~Mute() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

 private:
  int socket_;
  std::thread thread_;
};

/// One H100 with seven instances; one of them under the name that old drivers use.
class MigPods : public ::testing::Test {
 protected:
  MigPods() { EXPECT_EQ(node_.plan("all-7g.80gb").code, 2); }
  Ran apply(const std::string& keys, std::vector<std::string> words = {"apply"}) const {
    node_.section("config: all-7g.80gb" + keys);
    return node_.slipway(std::move(words));
  }
  Ran doctor() const { return node_.slipway({"doctor", "-f", node_.host().folder().at("host.yaml").string()}); }
  std::string uuid() const {
    const std::string shown = node_.gpus();
    return shown.substr(shown.find("GPU-"), 40);
  }
  std::vector<std::string> train() const {
    return {"team-a/train-0/trainer", "nvidia.com/mig-1g.10gb", "MIG-" + uuid() + "/9/0"};
  }
  void expect_nothing_changed() const { EXPECT_EQ(node_.instances().size(), 7U); }
  void expect_changed() const { EXPECT_THAT(node_.instances(), ElementsAre("7g.80gb at 0:8")); }

  const MigNode node_{"h100x1,mig=1g.10gb"};
};

TEST_F(MigPods, HoldTheirAllocatedDevices) {
  Kubelet kubelet(node_, train());
  const std::string holder =
      "pod team-a/train-0, container trainer (kubelet gave it the device; no process was found) on 1g.10gb at 2";
  EXPECT_THAT(apply("", {"plan"}).out, AllOf(HasSubstr("is held by " + holder), HasSubstr("an apply fails")));
  const Ran ran = apply("");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err,
              AllOf(HasSubstr(holder), HasSubstr("kubectl delete pod -n team-a train-0"), HasSubstr("is in use")));
  expect_nothing_changed();
  kubelet.end();
  EXPECT_EQ(apply("").code, 0);
  expect_changed();
}

// kubelet's pod resources API leaves init containers out: before the fix, an apply changed a GPU that an init container
// used and whose node it kept open.
TEST_F(MigPods, HoldTheDevicesOfInitContainersAsWell) {
  const MigNode node("h100x1");
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  const std::string shown = node.gpus();
  const Kubelet kubelet(node, {"team-a/minit/main", "acme.com/nic", "eth0"});
  const std::string uid = "5c1b0a9e-1111-2222-3333-444455556666";
  std::filesystem::create_directories(node.host().path("var/log/pods/team-a_minit_" + uid));
  std::filesystem::create_directories(node.host().path("var/lib/kubelet/pods/" + uid));
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"PodDeviceEntries": [{"PodUID": ")" + uid +
                      R"(", "ContainerName": "prep", "ResourceName": "nvidia.com/gpu", "DeviceIDs": {"0": [")" +
                      shown.substr(shown.find("GPU-"), 40) + R"("]}}], "RegisteredDevices": {}}, "Checksum": 1})");
  const std::string holder =
      "pod team-a/minit, init container prep (kubelet gave it the device, as its checkpoint says; no process was "
      "found) on GPU 0";
  const Ran ran = node.apply("all-1g.10gb");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, AllOf(HasSubstr(holder), HasSubstr("kubectl delete pod -n team-a minit")));
  EXPECT_THAT(node.instances(), ElementsAre("off"));
  EXPECT_THAT(
      node.host().bare({"mig", "show", "--root", node.host().folder().at("root").string(), "--sim", "h100x1"}).out,
      HasSubstr("pod team-a/minit, init container prep"));
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint", "torn");
  EXPECT_THAT(node.apply("all-1g.10gb").err, HasSubstr("which has the init containers, cannot be read"));
  EXPECT_THAT(node.instances(), ElementsAre("off"));
  // The pod is deleted; kubelet removes its entry from the file only with the next allocation.
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"PodDeviceEntries": [{"PodUID": "0f3a1b2c-1111-2222-3333-444455556666",
      "ContainerName": "prep", "ResourceName": "nvidia.com/gpu", "DeviceIDs": {"0": [")" +
                      shown.substr(shown.find("GPU-"), 40) + R"("]}}]}})");
  EXPECT_EQ(node.apply("all-1g.10gb").code, 0);
  EXPECT_EQ(node.instances().size(), 7U);
}

TEST_F(MigPods, AreNamedWhileTheApplyWaits) {
  Kubelet kubelet(node_, train());
  EXPECT_EQ(apply(", drain: {policy: wait, deadline: 24h}").code, 3);
  EXPECT_THAT(node_.host().slipway({"status"}).out, HasSubstr("pod team-a/train-0, container trainer"));
  EXPECT_THAT(doctor().out, AllOf(HasSubstr("mig.in-use"), HasSubstr("pod team-a/train-0, container trainer"),
                                  HasSubstr("kubectl delete pod")));
  expect_nothing_changed();
  kubelet.end();
  EXPECT_EQ(node_.slipway({"apply"}).code, 0);
  expect_changed();
}

TEST_F(MigPods, CannotBeTerminatedSoNoProcessIs) {
  const Kubelet kubelet(node_, train());
  Child job;
  EXPECT_EQ(node_.sim("process attach 0 " + job.pid() + " 10 compute player 10 0").code, 0);
  EXPECT_THAT(apply(", drain: terminate", {"plan"}).out, HasSubstr("an apply fails, since it cannot end pod "));
  const Ran ran = apply(", drain: {policy: terminate, grace: 1s}");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err,
              AllOf(HasSubstr("it is a pod without a known process"), HasSubstr("kubectl delete pod -n team-a")));
  EXPECT_TRUE(job.runs());
  expect_nothing_changed();
}

TEST_F(MigPods, OnInstancesThatStayDoNotBlockTheChange) {
  const Kubelet kubelet(node_, {"team-a/idle/c", "nvidia.com/mig-1g.10gb", "MIG-" + uuid() + "/7/0"});
  node_.section(
      "config: it, configs: {version: v1, mig-configs: {it: [{devices: all, mig-enabled: true, "
      "mig-devices: {1g.10gb: 2, 2g.20gb: 1, 3g.40gb: 1}}]}}");
  const Ran ran = node_.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(node_.instances(), ElementsAre("1g.10gb at 0:1", "1g.10gb at 1:1", "2g.20gb at 2:2", "3g.40gb at 4:4"));
}

TEST_F(MigPods, OfAWholeGpuBlockAChangeOfItsMode) {
  const MigNode node("h100x1");
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  const std::string shown = node.gpus();
  Kubelet kubelet(node,
                  {"team-b/notebook/jupyter", "nvidia.com/gpu.shared", shown.substr(shown.find("GPU-"), 40) + "::2"});
  const Ran ran = node.apply("all-1g.10gb");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, HasSubstr("pod team-b/notebook, container jupyter (kubelet gave it the device"));
  EXPECT_THAT(node.instances(), ElementsAre("off"));
  node.section("config: all-1g.10gb, drain: next-boot");
  ASSERT_EQ(node.slipway({"apply"}).code, 4);
  EXPECT_EQ(node.slipway({"apply", "--boot"}).code, 0) << "all pods have ended then";
  EXPECT_EQ(node.instances().size(), 7U);
}

TEST_F(MigPods, AreIgnoredOnRequest) {
  const Kubelet kubelet(node_, train());
  EXPECT_EQ(apply(", kubelet_socket: ''").code, 0);
  expect_changed();
}

TEST_F(MigPods, ThatKubeletHidesMayHaveAnyDevice) {
  const Mute mute(node_);
  const Ran ran = apply("");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err,
              AllOf(HasSubstr("a pod, perhaps, on GPU 0"), HasSubstr("kubelet does not report which pods have GPUs"),
                    HasSubstr("/var/lib/kubelet/pod-resources/kubelet.sock"), HasSubstr("systemctl status kubelet"),
                    HasSubstr("kubelet_socket: \"\""), HasSubstr("--kubelet-socket= of the tools")));
  EXPECT_EQ(apply(", drain: when-idle").code, 3);
  EXPECT_EQ(apply(", drain: {policy: terminate, grace: 1s}").code, 1);
  expect_nothing_changed();
  EXPECT_EQ(apply(", kubelet_socket: ''").code, 0);
  expect_changed();
}

TEST_F(MigPods, ThatKubeletHidesBlockARemoval) {
  ASSERT_EQ(apply(", on_remove: disable").code, 0);
  const Mute mute(node_);
  const Ran ran = node_.slipway({"remove", "mig"});
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, AllOf(HasSubstr("systemctl status kubelet"),
                                       HasSubstr("spec.components.mig.on_remove"), Not(HasSubstr("drain policy"))));
}

TEST_F(MigPods, AreReadFromTheCheckpointWithoutKubelet) {
  { const Mute gone(node_); }
  const auto checkpoint = [&](const std::string& text) {
    node_.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint", text);
  };
  std::filesystem::create_directories(node_.host().path("var/log/pods/team-a_train-0_5c1b-uid"));
  checkpoint(R"({"Data": {"PodDeviceEntries": [{"PodUID": "5c1b-uid", "ContainerName": "trainer",
      "ResourceName": "nvidia.com/mig-1g.10gb", "DeviceIDs": {"0": ["MIG-)" +
             uuid() + R"(/9/0"]}}], "RegisteredDevices": {}}, "Checksum": 1})");
  const Ran ran = apply("");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, HasSubstr("pod team-a/train-0, container trainer (kubelet gave it the device"));
  checkpoint("{}");
  EXPECT_THAT(apply("").err, HasSubstr("its list of devices cannot be read"));
  expect_nothing_changed();
  checkpoint(R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": {}}, "Checksum": 1})");
  EXPECT_EQ(apply("").code, 0) << "it has given nothing";
  expect_changed();
}

// Before the fix, with its socket moved away, kubelet counted as missing and its pods as ended.
TEST_F(MigPods, AreReadFromTheCheckpointWithoutASocket) {
  const auto checkpoint = [&](const std::string& text) {
    node_.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint", text);
  };
  checkpoint(R"({"Data": {"PodDeviceEntries": [{"PodUID": "5c1b-uid", "ContainerName": "trainer",
      "ResourceName": "nvidia.com/mig-1g.10gb", "DeviceIDs": {"-1": ["MIG-)" +
             uuid() + R"(/9/0"]}}], "RegisteredDevices": {}}, "Checksum": 1})");
  const std::string holder =
      "pod 5c1b-uid, container trainer (kubelet gave it the device, as its checkpoint says; no process was found) on "
      "1g.10gb at 2";
  const Ran ran = apply("");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, HasSubstr(holder));
  checkpoint("{}");
  EXPECT_THAT(apply("").err, HasSubstr("its list of devices cannot be read"));
  expect_nothing_changed();
  std::filesystem::remove(node_.host().path("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"));
  EXPECT_EQ(apply("").code, 0);
  expect_changed();
}

// A driver that does not report instances lists all processes without one.
TEST_F(MigPods, WithoutAnInstanceMayUseAnyInstance) {
  Child job;
  ASSERT_EQ(node_.sim("process attach 0 " + job.pid() + " 10 compute trainer").code, 0);
  const Ran ran = apply("");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, AllOf(HasSubstr("(pid " + job.pid()), HasSubstr("on GPU 0 (0000:18:00.0)"),
                                       Not(HasSubstr("on 1g.10gb"))));
  expect_nothing_changed();
}

}  // namespace
}  // namespace slipway
