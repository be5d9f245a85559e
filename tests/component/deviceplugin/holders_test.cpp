// SPDX-License-Identifier: Apache-2.0
// The holders of a GPU as the service sees them: while the sharing changes under running pods, with init containers,
// and beside another device plugin.
#include "tests/component/deviceplugin/node.hpp"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kTimeSliced = "{config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}}";
constexpr const char* kCheckpoint = "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint";

std::string pod_resources(const Node& node) {
  return node.host().path("var/lib/kubelet/pod-resources/kubelet.sock").string();
}

bool has_holders(const Node& node, std::size_t ids) {
  return eventually([&] {
    std::size_t count = 0;
    const Json status = node.status();
    if (!status.is_object() || !status.contains("holders")) return false;
    for (const Json& holder : status["holders"]) count += holder["ids"].size();
    return count == ids;
  });
}

std::string gpu_of(const std::string& id) { return id.substr(0, id.find("::")); }

// Before the fix, a pod that wanted an exclusive GPU got one that two others still shared, although six GPUs were idle,
// and neither log nor status nor doctor reported it.
TEST(DevicePluginHolders, KeepTheirGpusFromExclusivePodsWhenSharingIsDisabled) {
  const Node node("h100x8", kTimeSliced);
  Kubelet kubelet(node.plugins());
  kubelet.serve_pod_resources(pod_resources(node));
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 32; })) << service.log();
  std::set<std::string> shared;
  for (int i = 0; i < 2; ++i) {
    const auto pod = kubelet.allocate(kGpu, 1);
    ASSERT_TRUE(pod.status.ok()) << pod.status.error_message();
    shared.insert(gpu_of(pod.ids.at(0)));
  }
  ASSERT_TRUE(has_holders(node, 2)) << node.status();
  node.spec("{}");
  service.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  std::set<std::string> exclusive;
  for (std::size_t i = 0; i < 8 - shared.size(); ++i) {
    const auto pod = kubelet.allocate(kGpu, 1);
    ASSERT_TRUE(pod.status.ok()) << pod.status.error_message();
    EXPECT_FALSE(shared.contains(pod.ids.at(0))) << pod.ids.at(0);
    exclusive.insert(pod.ids.at(0));
  }
  EXPECT_EQ(exclusive.size(), 8 - shared.size());
  ASSERT_TRUE(eventually([&] { return node.status().value("conflicts", Json::array()).size() == shared.size(); }))
      << node.status();
  const std::string text = node.status()["conflicts"][0]["text"];
  EXPECT_THAT(text, AllOf(HasSubstr("is offered for exclusive use as nvidia.com/gpu, but pod default/pod shares it")));
  EXPECT_TRUE(eventually([&] { return service.log().find(text) != std::string::npos; })) << service.log();
  const auto doctor = node.host().slipway(node.words("doctor"));
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("deviceplugin.sharing"), HasSubstr(text)));
  EXPECT_THAT(
      node.host().bare({"deviceplugin", "status", "--root", node.host().path("").string(), "--sim", "h100x8"}).out,
      HasSubstr(text));
  // When no other GPU is left, kubelet allocates one of these; the service reports it.
  ASSERT_TRUE(kubelet.allocate(kGpu, 1).status.ok());
  EXPECT_TRUE(eventually([&] {
    return service.log().find("kubelet has given it to pod default/pod as well") != std::string::npos;
  })) << service.log();
}

TEST(DevicePluginHolders, KeepTheirGpusExclusiveWhenSharingIsEnabled) {
  const Node node("h100x2");
  Kubelet kubelet(node.plugins());
  kubelet.serve_pod_resources(pod_resources(node));
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  const auto alone = kubelet.allocate(kGpu, 1);
  ASSERT_TRUE(has_holders(node, 1)) << node.status();
  node.spec(kTimeSliced);
  service.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  for (int i = 0; i < 4; ++i) EXPECT_NE(gpu_of(kubelet.allocate(kGpu, 1).ids.at(0)), alone.ids.at(0));
  EXPECT_TRUE(eventually([&] { return service.log().find("has it for itself") != std::string::npos; }))
      << service.log();
}

TEST(DevicePluginHolders, IncludeInitContainers) {
  const Node node("h100x2");
  Kubelet kubelet(node.plugins());
  kubelet.serve_pod_resources(pod_resources(node));
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  const std::string gpu = kubelet.of(kGpu).devices.begin()->first;
  const std::string uid = "5c1b0a9e-1111-2222-3333-444455556666";
  std::filesystem::create_directories(node.host().path("var/log/pods/default_pod_" + uid));
  node.host().put(kCheckpoint,
                  R"({"Data": {"PodDeviceEntries": [{"PodUID": ")" + uid +
                      R"(", "ContainerName": "prep", "ResourceName": "nvidia.com/gpu", "DeviceIDs": {"0": [")" + gpu +
                      R"("]}}], "RegisteredDevices": {}}})");
  ASSERT_TRUE(has_holders(node, 1)) << node.status();
  const Json holder = node.status()["holders"][0];
  EXPECT_EQ(holder["pod"], "default/pod");
  EXPECT_EQ(holder["container"], "prep");
  EXPECT_EQ(holder["initContainer"], true);
}

// Before the fix, the status lost all holders while kubelet was restarted, just when new pods are admitted.
TEST(DevicePluginHolders, AreKnownByTheCheckpointWhileKubeletDoesNotRun) {
  const Node node("h100x2");
  node.host().put(kCheckpoint, R"({"Data": {"PodDeviceEntries": [{"PodUID": "u", "ContainerName": "main",
      "ResourceName": "nvidia.com/gpu", "DeviceIDs": ["nvidia0"]}], "RegisteredDevices": {}}})");
  RunningService service(node.host(), node.words());
  EXPECT_TRUE(has_holders(node, 1)) << node.status() << service.log();
}

/// Another device plugin, at the socket of its own resource.
class OtherPlugin {
 public:
  explicit OtherPlugin(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), path_(path) {
    const sockaddr_un address = slipway::testing::socket_address(path);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 64), 0);
  }
  ~OtherPlugin() {
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  OtherPlugin(const OtherPlugin&) = delete;
  OtherPlugin& operator=(const OtherPlugin&) = delete;

 private:
  int fd_;
  std::string path_;
};

constexpr const char* kOthersCheckpoint = R"({"Data": {"PodDeviceEntries": null,
    "RegisteredDevices": {"nvidia.com/gpu.shared": ["GPU-1::0", "GPU-1::1"]}}})";

// Before the fix, NVIDIA's plugin with renameByDefault gave pods GPUs that slipway had allocated, and verify and doctor
// passed.
TEST(DevicePluginBesideAnother, IsReportedByPlanVerifyAndDoctor) {
  const Node node("h100x2");
  node.host().put(kCheckpoint, kOthersCheckpoint);
  const OtherPlugin other(node.plugins() + "/nvidia-gpu.shared.sock");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string text = "offers nvidia.com/gpu.shared (2 devices)";
  EXPECT_THAT(node.host().slipway(node.words("plan")).out,
              AllOf(HasSubstr(text), ::testing::Not(HasSubstr("nvidia-gpu.sock"))));
  EXPECT_THAT(node.host().slipway(node.words("verify")).out,
              AllOf(HasSubstr("warning  deviceplugin.other-plugin: "), HasSubstr(text)));
  EXPECT_THAT(node.host().slipway(node.words("doctor")).out, HasSubstr("deviceplugin.other-plugin"));
  node.spec("{other_plugin: take-over}");
  const auto refused = node.host().slipway(node.words("plan"));
  EXPECT_THAT(refused.out + refused.err,
              AllOf(HasSubstr("slipway cannot stop that plugin"), HasSubstr("other_plugin: yield")));
}

TEST(DevicePluginBesideAnother, OffersNothingWhileItYieldsToAnotherPlugin) {
  const Node node("h100x2", "{other_plugin: yield}");
  Kubelet kubelet(node.plugins());
  node.host().put(kCheckpoint, kOthersCheckpoint);
  auto other = std::make_unique<OtherPlugin>(node.plugins() + "/nvidia-gpu.shared.sock");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return node.status().contains("yields"); })) << service.log();
  EXPECT_THAT(node.status()["yields"].get<std::string>(), HasSubstr("the GPUs are left to it"));
  EXPECT_TRUE(node.status()["resources"].empty());
  EXPECT_THAT(node.host().slipway(node.words("verify")).out, HasSubstr("not-exercised  deviceplugin.registered: "));
  EXPECT_TRUE(kubelet.resources().empty());
  other.reset();
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
}

}  // namespace
}  // namespace slipway::testing
