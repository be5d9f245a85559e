// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/adjustment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "engine_side.hpp"

namespace slipway::nri {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kSpec = R"(cdiVersion: "1.1.0"
kind: nvidia.com/gpu
containerEdits:
  env: [NVIDIA_VISIBLE_DEVICES=void]
  mounts: [{hostPath: /lib/libcuda.so.1, containerPath: /lib/libcuda.so.1, options: [ro, rbind], type: none}]
  hooks: [{hookName: createContainer, path: /usr/bin/hook, args: [hook, update-ldcache], env: [A=b], timeout: 9}]
devices:
  - {name: "0", containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}}
  - {name: "1", containerEdits: {deviceNodes: [{path: /dev/nvidia1}], additionalGids: [44]}}
  - {name: GPU-1, containerEdits: {deviceNodes: [{path: /dev/nvidia1, permissions: rw, uid: 7}]}}
  - {name: GPU-0, containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}}
  - {name: all, containerEdits: {deviceNodes: [{path: /dev/nvidia0}, {path: /dev/nvidia1}]}}
  - {name: net, containerEdits: {netDevices: [{hostInterfaceName: eth9, name: eth0}]}}
)";

Result<shim::HostNode> node(const std::string& path) { return shim::HostNode{"c", 195, path.back() - '0', 0666}; }

class NriAdjust : public ::testing::Test {
 protected:
  NriAdjust() {
    folder_.file("cdi/nvidia.yaml", kSpec);
    devices_.config.spec_folders = {folder_.at("cdi").string()};
    devices_.read_node = node;
    devices_.ask_kubelet = [this](const ContainerName& name) -> Result<std::vector<std::string>> {
      asked_.push_back(name.pod_namespace + "/" + name.pod + "/" + name.container);
      if (!kubelets_problem_.empty()) return Error{ErrorCode::unreachable, kubelets_problem_, "/kubelet.sock", {}, {}};
      return given_;
    };
    permit("team-a", "nvidia.com/gpu=*");
  }
  /// Returns a rule as the settings contain it.
  void permit(const std::string& pod_namespace, const std::string& device) {
    devices_.config.requests.push_back({{pod_namespace}, {device}});
  }
  /// Kubelet has given these to team-a/train-0/cuda, and no rule is set.
  void kubelet_gave(std::vector<std::string> uuids) {
    devices_.config.requests.clear();
    given_ = std::move(uuids);
  }
  Result<wire::ContainerAdjustment> give(const wire::CreateContainerRequest& request) {
    return adjust(request, devices_, [this](const char* level, const std::string& text) {
      log_ += std::string(level) + ": " + text + "\n";
    });
  }
  std::vector<std::string> nodes(const wire::CreateContainerRequest& request) {
    const auto adjustment = give(request);
    std::vector<std::string> paths;
    if (!adjustment) return {to_text(adjustment.error())};
    for (const auto& device : adjustment->on_linux().devices()) paths.push_back(device.path());
    return paths;
  }

  testing::TempDir folder_;
  Devices devices_;
  std::vector<std::string> given_;
  std::string kubelets_problem_;
  std::vector<std::string> asked_;
  std::string log_;
};

TEST_F(NriAdjust, GivesEverythingInTheSpecs) {
  const auto adjustment = give(container_with({"PATH=/bin", "NVIDIA_VISIBLE_DEVICES=0"}));
  ASSERT_TRUE(adjustment.ok()) << to_text(adjustment.error());
  ASSERT_EQ(adjustment->env_size(), 1);
  EXPECT_EQ(adjustment->env(0).key() + "=" + adjustment->env(0).value(), "NVIDIA_VISIBLE_DEVICES=void");
  ASSERT_EQ(adjustment->mounts_size(), 1);
  EXPECT_EQ(adjustment->mounts(0).destination(), "/lib/libcuda.so.1");
  EXPECT_EQ(adjustment->mounts(0).source(), "/lib/libcuda.so.1");
  EXPECT_EQ(adjustment->mounts(0).type(), "none");
  EXPECT_THAT(adjustment->mounts(0).options(), ElementsAre("ro", "rbind"));
  ASSERT_EQ(adjustment->hooks().create_container_size(), 1);
  const auto& hook = adjustment->hooks().create_container(0);
  EXPECT_EQ(hook.path(), "/usr/bin/hook");
  EXPECT_THAT(hook.args(), ElementsAre("hook", "update-ldcache"));
  EXPECT_THAT(hook.env(), ElementsAre("A=b"));
  EXPECT_EQ(hook.timeout().value(), 9);
  ASSERT_EQ(adjustment->on_linux().devices_size(), 1);
  const auto& device = adjustment->on_linux().devices(0);
  EXPECT_EQ(device.path() + " " + device.type(), "/dev/nvidia0 c");
  EXPECT_EQ(device.major(), 195);
  EXPECT_EQ(device.minor(), 0);
  EXPECT_EQ(device.file_mode().value(), 0666U);
  EXPECT_EQ(log_, "info: team-a/train-0/cuda: nvidia.com/gpu=0, asked for by NVIDIA_VISIBLE_DEVICES=0\n");
}

TEST_F(NriAdjust, FindsTheRequestInEveryPlace) {
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=GPU-1"})), ElementsAre("/dev/nvidia1"));
  auto by_pod = container_with({});
  add_annotation(*by_pod.mutable_pod()->mutable_annotations(), "cdi.k8s.io/gpu", "nvidia.com/gpu=1");
  EXPECT_THAT(nodes(by_pod), ElementsAre("/dev/nvidia1"));
  auto by_container = by_pod;
  add_annotation(*by_container.mutable_container()->mutable_annotations(), "cdi.k8s.io/gpu", "nvidia.com/gpu=0");
  EXPECT_THAT(nodes(by_container), ElementsAre("/dev/nvidia0")) << "the container's own counts";
  auto by_mount = container_with({});
  auto* const mount = by_mount.mutable_container()->add_mounts();
  mount->set_source("/dev/null");
  mount->set_destination("/var/run/nvidia-container-devices/1");
  EXPECT_THAT(nodes(by_mount), IsEmpty()) << "off by default, as in slipway-runtime";
  devices_.config.accept_mounts = true;
  EXPECT_THAT(nodes(by_mount), ElementsAre("/dev/nvidia1"));
}

TEST_F(NriAdjust, LeavesContainersWithoutARequestAlone) {
  for (const auto& request : {container_with({}), container_with({"NVIDIA_VISIBLE_DEVICES=void"}),
                              container_with({"PATH=/bin"}), wire::CreateContainerRequest()}) {
    const auto adjustment = give(request);
    ASSERT_TRUE(adjustment.ok()) << to_text(adjustment.error());
    EXPECT_EQ(adjustment->ByteSizeLong(), 0U);
  }
  EXPECT_EQ(log_, "");
}

// containerd resolves the CDI devices of kubelet itself, before it asks plugins.
TEST_F(NriAdjust, GivesNothingTwice) {
  auto request = container_with({"NVIDIA_VISIBLE_DEVICES=0"});
  const auto first = give(request);
  ASSERT_TRUE(first.ok());
  request = container_with({"NVIDIA_VISIBLE_DEVICES=void"});
  add_annotation(*request.mutable_container()->mutable_annotations(), "cdi.k8s.io/gpu", "nvidia.com/gpu=0");
  *request.mutable_container()->mutable_mounts() = first->mounts();
  *request.mutable_container()->mutable_hooks() = first->hooks();
  *request.mutable_container()->mutable_on_linux()->mutable_devices() = first->on_linux().devices();
  const auto second = give(request);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->ByteSizeLong(), 0U);
}

TEST_F(NriAdjust, RefusesAMissingDeviceAndNamesTheContainer) {
  const auto adjustment = give(container_with({"NVIDIA_VISIBLE_DEVICES=9"}));
  ASSERT_FALSE(adjustment.ok());
  EXPECT_THAT(to_text(adjustment.error()), HasSubstr("there is no device nvidia.com/gpu=9"));
  EXPECT_THAT(to_text(adjustment.error()), HasSubstr("NVIDIA_VISIBLE_DEVICES=9"));
}

TEST_F(NriAdjust, TreatsAContainerWithWritableSysfsAsPrivileged) {
  kubelet_gave({});
  auto request = container_with({"NVIDIA_VISIBLE_DEVICES=0"});
  auto* const sysfs = request.mutable_container()->add_mounts();
  sysfs->set_type("sysfs");
  sysfs->set_destination("/sys");
  sysfs->set_source("sysfs");
  sysfs->add_options("ro");
  EXPECT_THAT(nodes(request), IsEmpty());
  EXPECT_THAT(log_, HasSubstr("warning: team-a/train-0/cuda: NVIDIA_VISIBLE_DEVICES=0 was left out"));
  sysfs->set_options(0, "rw");
  EXPECT_THAT(nodes(request), ElementsAre("/dev/nvidia0"));
}

// The attacks of a user who may only create a pod: with a rule that allows everything to everyone, they succeed.
constexpr const char* kManagementSpec = R"({"cdiVersion": "0.5.0", "kind": "management.nvidia.com/gpu", "devices":
  [{"name": "all", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}, {"path": "/dev/nvidia-caps/nvidia-cap1"}]}}]})";
constexpr const char* kNicSpec = R"({"cdiVersion": "0.5.0", "kind": "vendor.com/nic", "devices":
  [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/nic0"}]}}]})";

TEST_F(NriAdjust, GivesNothingForAnAnnotationWithoutARule) {
  folder_.file("cdi/management.json", kManagementSpec);
  for (const char* device : {"nvidia.com/gpu=all", "management.nvidia.com/gpu=all"}) {
    kubelet_gave({});
    auto attack = container_with({});
    add_annotation(*attack.mutable_pod()->mutable_annotations(), "cdi.k8s.io/x", device);
    const auto refused = give(attack);
    ASSERT_FALSE(refused.ok()) << device;
    EXPECT_EQ(refused.error().code, ErrorCode::denied);
    EXPECT_THAT(to_text(refused.error()), HasSubstr("the annotation cdi.k8s.io/x asks for " + std::string(device)));
    EXPECT_THAT(to_text(refused.error()),
                HasSubstr("requests: [{namespaces: [team-a], devices: [" + std::string(device) + "]}]"));
    permit("team-a", device);
    EXPECT_THAT(nodes(attack), SizeIs(2)) << "the attack, with the protection off";
    devices_.config.requests.front().namespaces = {"team-b"};
    EXPECT_FALSE(give(attack).ok()) << "a rule is about its namespace";
  }
}

constexpr const char* kPluginSpec = R"({"cdiVersion": "0.5.0", "kind": "k8s.device-plugin.nvidia.com/gpu", "devices":
  [{"name": "GPU-0", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}]}},
   {"name": "GPU-1", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia1"}]}},
   {"name": "all", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}, {"path": "/dev/nvidia1"}]}}]})";
constexpr const char* kGdsSpec = R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gds", "devices":
  [{"name": "all", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia-fs0"}]}}]})";
constexpr const char* kChannelSpec = R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/imex-channel", "devices":
  [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/channel0"}]}},
   {"name": "1", "containerEdits": {"deviceNodes": [{"path": "/dev/channel1"}]}}]})";

/// A container with an annotation that its pod did not have when it was created.
wire::CreateContainerRequest freshly_annotated(const std::string& value) {
  auto request = container_with({});
  add_annotation(*request.mutable_container()->mutable_annotations(), "cdi.k8s.io/x", value);
  return request;
}

// The attack: `kubectl annotate pod p cdi.k8s.io/x=nvidia.com/gpu=all` while an init container sleeps. containerd puts
// the current `pod_annotations` into the next container, but shows NRI the annotations from the pod's creation.
TEST_F(NriAdjust, GivesAPatchedPodOnlyKubeletsDevices) {
  folder_.file("cdi/plugin.json", kPluginSpec);
  folder_.file("cdi/management.json", kManagementSpec);
  kubelet_gave({});
  for (const char* device : {"nvidia.com/gpu=all", "nvidia.com/gpu=GPU-1", "nvidia.com/gpu=1",
                             "k8s.device-plugin.nvidia.com/gpu=all", "k8s.device-plugin.nvidia.com/gpu=GPU-1"}) {
    EXPECT_THAT(nodes(freshly_annotated(device)), IsEmpty()) << device;
    EXPECT_THAT(log_, HasSubstr("the annotation cdi.k8s.io/x was left out (" + std::string(device) + ")"));
  }
  kubelet_gave({"GPU-0"});
  EXPECT_THAT(nodes(freshly_annotated("nvidia.com/gpu=all")), IsEmpty());
  EXPECT_THAT(nodes(freshly_annotated("k8s.device-plugin.nvidia.com/gpu=GPU-1")), IsEmpty());
  EXPECT_FALSE(give(freshly_annotated("management.nvidia.com/gpu=GPU-0")).ok());
  EXPECT_FALSE(give(freshly_annotated("management.nvidia.com/gpu=all")).ok());
  permit("team-a", "nvidia.com/gpu=all");
  EXPECT_THAT(nodes(freshly_annotated("nvidia.com/gpu=all")), SizeIs(2)) << "the attack, with the protection off";
}

TEST_F(NriAdjust, GivesTheDevicesOfADevicePluginsAnnotation) {
  folder_.file("cdi/plugin.json", kPluginSpec);
  folder_.file("cdi/nic.json", kNicSpec);
  folder_.file("cdi/gds.json", kGdsSpec);
  folder_.file("cdi/channels.json", kChannelSpec);
  kubelet_gave({"GPU-0"});
  EXPECT_THAT(nodes(freshly_annotated("nvidia.com/gpu=GPU-0")), ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(nodes(freshly_annotated("k8s.device-plugin.nvidia.com/gpu=GPU-0")), ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(nodes(freshly_annotated("nvidia.com/gpu=GPU-0,nvidia.com/imex-channel=0,nvidia.com/gds=all")),
              ElementsAre("/dev/nvidia0", "/dev/channel0", "/dev/nvidia-fs0"));
  EXPECT_THAT(nodes(freshly_annotated("nvidia.com/imex-channel=1")), IsEmpty()) << "another job's";
  // An engine with CDI support injects this device by itself, so the container is not refused for it.
  EXPECT_THAT(nodes(freshly_annotated("vendor.com/nic=0")), IsEmpty());
  kubelet_gave({});
  EXPECT_THAT(nodes(freshly_annotated("nvidia.com/gds=all")), IsEmpty()) << "it goes with a GPU";
}

// CRI-O copies every annotation of a pod into its containers; containerd copies those that `pod_annotations` lists.
TEST_F(NriAdjust, IgnoresAnAnnotationThatThePodHasToo) {
  folder_.file("cdi/gds.json", kGdsSpec);
  kubelet_gave({"GPU-0"});
  auto request = freshly_annotated("nvidia.com/gds=all");
  EXPECT_THAT(nodes(request), ElementsAre("/dev/nvidia-fs0"));
  add_annotation(*request.mutable_pod()->mutable_annotations(), "cdi.k8s.io/x", "nvidia.com/gds=all");
  EXPECT_FALSE(give(request).ok());
  request.mutable_pod()->mutable_annotations(0)->set_value("nvidia.com/gpu=all");
  EXPECT_THAT(nodes(request), ElementsAre("/dev/nvidia-fs0"));
}

TEST_F(NriAdjust, AcceptsAVariableForKubeletsDevicesOnly) {
  for (const char* name : {"GPU-0", "0", "nvidia.com/gpu=0"}) {
    kubelet_gave({"GPU-0", "GPU-1"});
    EXPECT_THAT(nodes(container_with({std::string("NVIDIA_VISIBLE_DEVICES=") + name})), ElementsAre("/dev/nvidia0"));
  }
  EXPECT_THAT(asked_, Each("team-a/train-0/cuda"));
  kubelet_gave({"GPU-0"});
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=0,1"})), ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(log_, HasSubstr("warning: team-a/train-0/cuda: NVIDIA_VISIBLE_DEVICES=0,1 was left out "
                              "(nvidia.com/gpu=1): kubelet has not given it to this container"));
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=all"})), ElementsAre("/dev/nvidia0"))
      << "all that kubelet gave";
  kubelet_gave({});
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=all"})), IsEmpty());
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=none"})), IsEmpty());
  permit("*", "nvidia.com/gpu=all");
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=all"})), ElementsAre("/dev/nvidia0", "/dev/nvidia1"))
      << "the attack, with the protection off";
}

TEST_F(NriAdjust, GivesNothingInAdditionToKubeletsDevices) {
  folder_.file("cdi/nic.json", kNicSpec);
  folder_.file("cdi/gds.json", kGdsSpec);
  const auto attack = container_with({"NVIDIA_VISIBLE_DEVICES=0,vendor.com/nic=0", "NVIDIA_GDS=enabled"});
  kubelet_gave({"GPU-0"});
  EXPECT_THAT(nodes(attack), ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(log_, HasSubstr("vendor.com/nic=0"));
  EXPECT_THAT(log_, HasSubstr("NVIDIA_GDS=enabled was left out"));
  permit("team-a", "vendor.com/nic=0");
  permit("team-a", "nvidia.com/gds=all");
  EXPECT_THAT(nodes(attack), ElementsAre("/dev/nvidia0", "/dev/nic0", "/dev/nvidia-fs0"))
      << "the attack, with the protection off";
}

TEST_F(NriAdjust, RefusesAMountThatKubeletDidNotGiveWithTheRule) {
  devices_.config.accept_mounts = true;
  auto request = container_with({});
  auto* const mount = request.mutable_container()->add_mounts();
  mount->set_source("/dev/null");
  mount->set_destination("/var/run/nvidia-container-devices/all");
  EXPECT_THAT(nodes(request), SizeIs(2)) << "the attack, with the protection off";
  kubelet_gave({"GPU-0"});
  EXPECT_THAT(to_text(give(request).error()), HasSubstr("devices: [nvidia.com/gpu=all]"));
  mount->set_destination("/var/run/nvidia-container-devices/GPU-0");
  EXPECT_THAT(nodes(request), ElementsAre("/dev/nvidia0"));
}

// The device plugin with volume-mounts gives a GPU's container its IMEX channel through a mount.
TEST_F(NriAdjust, GivesTheFirstImexChannelByAMountBesideAGpu) {
  folder_.file("cdi/channels.json", kChannelSpec);
  devices_.config.accept_mounts = true;
  kubelet_gave({"GPU-0"});
  auto request = container_with({});
  for (const char* name : {"GPU-0", "imex/0"}) {
    auto* const mount = request.mutable_container()->add_mounts();
    mount->set_source("/dev/null");
    mount->set_destination(std::string("/var/run/nvidia-container-devices/") + name);
  }
  EXPECT_THAT(nodes(request), ElementsAre("/dev/nvidia0", "/dev/channel0"));
  request.mutable_container()->mutable_mounts(1)->set_destination("/var/run/nvidia-container-devices/imex/1");
  EXPECT_THAT(to_text(give(request).error()), HasSubstr("nvidia.com/imex-channel=1"));
}

// Before the fix, a container that kubelet had given a GPU started without it, without a message.
TEST_F(NriAdjust, RefusesADevicePluginsRequestWithoutKubelet) {
  kubelet_gave({"GPU-0"});
  kubelets_problem_ = "nobody listens";
  for (const auto& request :
       {container_with({"NVIDIA_VISIBLE_DEVICES=GPU-0"}), freshly_annotated("nvidia.com/gpu=GPU-0"),
        container_with({"NVIDIA_VISIBLE_DEVICES=MIG-7"})}) {
    const auto refused = give(request);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::unreachable);
    EXPECT_THAT(to_text(refused.error()), HasSubstr("nobody listens (/kubelet.sock)"));
    EXPECT_THAT(to_text(refused.error()), HasSubstr("set kubelet_root of the component runtime"));
  }
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=all"})), IsEmpty()) << "as CUDA images have it";
  permit("team-a", "nvidia.com/gpu=GPU-0");
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=GPU-0"})), ElementsAre("/dev/nvidia0"));
}

TEST_F(NriAdjust, QueriesKubeletOnlyWhenNeeded) {
  kubelet_gave({"GPU-0"});
  kubelets_problem_ = "nobody listens";
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=0"})), IsEmpty());
  EXPECT_THAT(log_, HasSubstr("kubelet does not answer: nobody listens (/kubelet.sock)"));
  asked_.clear();
  EXPECT_THAT(nodes(container_with({"PATH=/bin"})), IsEmpty());
  permit("team-a", "nvidia.com/gpu=0");
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=0"})), ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(NriAdjust, ReportsEditsThatNriCannotPassOn) {
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=1"})), ElementsAre("/dev/nvidia1"));
  EXPECT_THAT(log_, HasSubstr("warning: team-a/train-0/cuda: left out the groups that device nodes belong to"));
  const auto network = give(container_with({"NVIDIA_VISIBLE_DEVICES=net"}));
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().code, ErrorCode::unsupported);
}

TEST_F(NriAdjust, WithUnreadableSettingsRefusesOnlyRequests) {
  folder_.file("etc/nvidia-container-runtime/config.toml", "swarm-resource = [\n");
  Devices devices = devices_below(folder_.string());
  ASSERT_TRUE(devices.problem);
  devices.ask_kubelet = [](const ContainerName&) { return std::vector<std::string>{}; };
  const auto log = [](const char*, const std::string&) {};
  EXPECT_TRUE(adjust(container_with({}), devices, log).ok());
  const auto asking = adjust(container_with({"NVIDIA_VISIBLE_DEVICES=0"}), devices, log);
  ASSERT_FALSE(asking.ok());
  EXPECT_THAT(to_text(asking.error()), HasSubstr("config.toml"));
}

TEST_F(NriAdjust, LooksBelowTheMachinesRoot) {
  folder_.file("run/cdi/a.yaml", kSpec);
  folder_.file("etc/nvidia-container-runtime/config.toml",
               "[nvidia-container-runtime.modes.cdi]\nspec-dirs = [\"/run/cdi\"]\n");
  const Devices devices = devices_below(folder_.string());
  EXPECT_EQ(devices.config.spec_folders, std::vector<std::string>{folder_.at("run/cdi").string()});
  EXPECT_THAT(to_text(devices.read_node("/dev/nvidia0").error()), HasSubstr(folder_.at("dev/nvidia0").string()));
}

TEST_F(NriAdjust, RefusesAContainerWhoseImageRequiresAnotherDriver) {
  folder_.file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n");
  devices_.root = folder_.path();
  const std::vector<std::string> wanted{"NVIDIA_VISIBLE_DEVICES=0", "NVIDIA_REQUIRE_CUDA=cuda>=13.1"};
  EXPECT_THAT(
      nodes(container_with(wanted)),
      ElementsAre(HasSubstr("requires cuda>=13.1 (NVIDIA_REQUIRE_CUDA), and the GPU /dev/nvidia0 has CUDA 12.2")));
  EXPECT_THAT(nodes(container_with({"NVIDIA_REQUIRE_CUDA=cuda>=13.1"})), IsEmpty()) << "it asks for no GPU";
  EXPECT_THAT(nodes(container_with({wanted[0], "NVIDIA_REQUIRE_CUDA=cuda>=12.0"})), ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(nodes(container_with({wanted[0], wanted[1], "NVIDIA_DISABLE_REQUIRE=1"})), ElementsAre("/dev/nvidia0"));
  devices_.config.disable_require = true;
  EXPECT_THAT(nodes(container_with(wanted)), ElementsAre("/dev/nvidia0"));
}

TEST_F(NriAdjust, LogsAtTheLevelOfTheSettings) {
  devices_.config.log_level = shim::Level::warning;
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=0"})), ElementsAre("/dev/nvidia0"));
  EXPECT_EQ(log_, "");
  devices_.config.log_level = shim::Level::debug;
  EXPECT_THAT(nodes(container_with({"NVIDIA_VISIBLE_DEVICES=0"})), ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(log_, HasSubstr("debug: team-a/train-0/cuda: node /dev/nvidia0\n"));
}

}  // namespace
}  // namespace slipway::nri
