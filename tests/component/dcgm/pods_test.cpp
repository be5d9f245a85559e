// SPDX-License-Identifier: Apache-2.0
// Pods and jobs in the labels: a stand-in for kubelet that comes, goes and hangs.
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::Page;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using ::testing::HasSubstr;

class DcgmPods : public slipway::testing::DcgmNode {
 protected:
  DcgmPods() {
    machine_ = "h100x2,driver=550.90.07";
    std::filesystem::create_directories(host_.path("kubelet"));
    spec(", kubernetes: true, pod_resources_kubelet_socket: /kubelet/kubelet.sock");
  }
  ~DcgmPods() override { stop_kubelet(); }
  std::string socket() const { return host_.path("kubelet/kubelet.sock").string(); }
  /// @param holders  NAMESPACE/POD/CONTAINER RESOURCE ID…
  void start_kubelet(const std::vector<std::string>& holders) {
    std::vector<std::string> words{SLIPWAY_KUBELET_PODS, socket()};
    words.insert(words.end(), holders.begin(), holders.end());
    const std::string log = host_.folder().at("kubelet.log").string();
    kubelet_ = slipway::testing::spawn({.words = std::move(words), .out = log, .err = log});
  }
  void stop_kubelet() {
    if (kubelet_ <= 0) return;
    ::kill(kubelet_, SIGKILL);
    ::waitpid(std::exchange(kubelet_, -1), nullptr, 0);
  }
  /// Returns the simulated machine's "GPU-…".
  std::string uuid_of(unsigned gpu) const {
    const std::string line = scrape().of("slipway_dcgm_gpu_up").at(gpu);
    const std::size_t at = line.find("UUID=\"") + 6;
    return line.substr(at, line.find('"', at) - at);
  }
  bool pods_are(const std::string& state) const {
    return page_gets([&](const Page& page) { return page.value("slipway_dcgm_pods_up") == state; });
  }

  pid_t kubelet_ = -1;
};

TEST_F(DcgmPods, AreInTheLabelsOfTheirGpuAndGoWithKubelet) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(has_gpus(2)) << service.log();
  EXPECT_EQ(scrape().value("slipway_dcgm_pods_up"), "0");
  EXPECT_TRUE(service.hears("STATUS=kubelet does not report")) << service.told();
  start_kubelet({"team/train-0/cuda", "nvidia.com/gpu", uuid_of(1)});
  const std::string labels = "container=\"cuda\",namespace=\"team\",pod=\"train-0\"} ";
  ASSERT_TRUE(page_gets([&](const Page& page) { return !page.value("DCGM_FI_DEV_GPU_TEMP", labels).empty(); }))
      << scrape().text << service.log();
  EXPECT_TRUE(pods_are("1"));
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_GPU_TEMP"), 2U);
  EXPECT_THAT(scrape().of("DCGM_FI_DEV_GPU_TEMP")[1], HasSubstr(labels));
  stop_kubelet();
  EXPECT_TRUE(pods_are("0"));
  EXPECT_TRUE(page_gets([&](const Page& page) { return page.value("DCGM_FI_DEV_GPU_TEMP", labels).empty(); }));
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_GPU_TEMP"), 2U) << "the metrics go on without pods";
  std::filesystem::remove(socket());
  start_kubelet({"team/train-1/cuda", "nvidia.com/gpu", uuid_of(0)});
  EXPECT_TRUE(page_gets([&](const Page& page) {
    return !page.value("DCGM_FI_DEV_GPU_TEMP", "pod=\"train-1\"} ").empty();
  })) << service.log();
}

// Before the fix, such a GPU had no pod, as in dcgm-exporter: kubelet's pod resources API leaves init containers out.
TEST_F(DcgmPods, AreInTheLabelsWhileTheirInitContainerHasTheGpu) {
  std::filesystem::create_directories(host_.path("var/lib/kubelet/pod-resources"));
  spec(", kubernetes: true");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(has_gpus(2)) << service.log();
  const std::string uid = "5c1b0a9e-1111-2222-3333-444455556666";
  std::filesystem::create_directories(host_.path("var/log/pods/team_train-0_" + uid));
  host_.put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
            R"({"Data": {"PodDeviceEntries": [{"PodUID": ")" + uid +
                R"(", "ContainerName": "prep", "ResourceName": "nvidia.com/gpu", "DeviceIDs": {"0": [")" + uuid_of(1) +
                R"("]}}], "RegisteredDevices": {}}, "Checksum": 1})");
  const std::string log = host_.folder().at("kubelet.log").string();
  kubelet_ = slipway::testing::spawn(
      {.words = {SLIPWAY_KUBELET_PODS, host_.path("var/lib/kubelet/pod-resources/kubelet.sock").string(),
                 "team/train-0/main", "acme.com/nic", "eth0"},
       .out = log,
       .err = log});
  EXPECT_TRUE(page_gets([&](const Page& page) {
    return !page.value("DCGM_FI_DEV_GPU_TEMP", "container=\"prep\",namespace=\"team\",pod=\"train-0\"} ").empty();
  })) << scrape().text
      << service.log();
}

// Before the fix, no metric had the pods of renamed resources, although slipway's own device plugin renamed them.
TEST_F(DcgmPods, OfEveryResourceOfSlipwaysDevicePluginAreInTheLabels) {
  spec(
      ", kubernetes: true, pod_resources_kubelet_socket: /kubelet/kubelet.sock}\n"
      "    deviceplugin: {config: {version: v1, sharing: {timeSlicing: {renameByDefault: true, replicas: 2}}}");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(has_gpus(2)) << service.log();
  start_kubelet({"team/shared-0/cuda", "nvidia.com/gpu.shared", uuid_of(0) + "::1", "team/own-0/cuda",
                 "nvidia.com/h100", uuid_of(1)});
  for (const char* pod : {"shared-0", "own-0"})
    EXPECT_TRUE(page_gets([&](const Page& page) {
      return !page.value("DCGM_FI_DEV_GPU_TEMP", "pod=\"" + std::string(pod) + "\"} ").empty();
    })) << pod
        << scrape().text;
}

// kubelet accepts connections and never answers: neither sampling nor the end of the service may wait for it.
TEST_F(DcgmPods, AreLeftOutWhereKubeletHangs) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socket().size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, socket().c_str());
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(fd, 16), 0);
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string before = scrape().value("slipway_dcgm_samples_total");
  EXPECT_TRUE(page_gets([&](const Page& page) { return page.value("slipway_dcgm_samples_total") != before; }));
  EXPECT_EQ(scrape().value("slipway_dcgm_pods_up"), "0");
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_GPU_TEMP"), 2U);
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  ::close(fd);
}

TEST_F(DcgmPods, HoldGpuInstancesByTheUuidsOfMigDevices) {
  machine_ = "h100x2,driver=550.90.07,mig=1g.10gb";
  start_kubelet({"team/a/cuda", "nvidia.com/mig-1g.10gb", "MIG-none"});
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(pods_are("1")) << service.log();
  const Page page = scrape();
  EXPECT_EQ(page.count("DCGM_FI_DEV_FB_USED"), 14U);
  EXPECT_EQ(page.text.find("pod=\"a\""), std::string::npos);
  const std::string instance = page.of("DCGM_FI_DEV_FB_USED")[9];
  const std::size_t at = instance.find("GPU_I_ID=\"") + 10;
  stop_kubelet();
  std::filesystem::remove(socket());
  start_kubelet({"team/b/cuda", "nvidia.com/mig-1g.10gb",
                 "MIG-" + uuid_of(1) + "/" + instance.substr(at, instance.find('"', at) - at) + "/0"});
  EXPECT_TRUE(page_gets([&](const Page& each) {
    return each.of("DCGM_FI_DEV_FB_USED").size() == 14 &&
           each.of("DCGM_FI_DEV_FB_USED")[9].find("pod=\"b\"") != std::string::npos;
  })) << scrape().text;
}

TEST_F(DcgmPods, HaveSeparateSeriesOnASharedGpuOnRequest) {
  spec(", kubernetes: true, kubernetes_virtual_gpus: true, pod_resources_kubelet_socket: /kubelet/kubelet.sock");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  start_kubelet(
      {"team/a/cuda", "nvidia.com/gpu", uuid_of(0) + "::0", "team/b/cuda", "nvidia.com/gpu", uuid_of(0) + "::1"});
  EXPECT_TRUE(page_gets([&](const Page& page) { return page.count("DCGM_FI_DEV_GPU_TEMP") == 3; })) << service.log();
  EXPECT_THAT(scrape().text, HasSubstr("pod=\"b\",vgpu=\"1\"}"));
}

TEST_F(DcgmPods, CanBeCombinedWithTheJobsOfABatchSystem) {
  spec(", hpc_job_mapping_dir: /jobs, use_old_namespace: true");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(page_gets([](const Page& page) { return page.value("slipway_dcgm_jobs_up") == "0"; })) << scrape().text;
  EXPECT_EQ(scrape().text.find("UUID="), std::string::npos) << "slipway's own metrics have the old label as well";
  host_.put("jobs/1", "1234\n");
  EXPECT_TRUE(page_gets([](const Page& page) {
    return !page.value("DCGM_FI_DEV_GPU_TEMP", ",hpc_job=\"1234\"} ").empty();
  })) << scrape().text;
  EXPECT_EQ(scrape().value("slipway_dcgm_jobs_up"), "1");
  EXPECT_THAT(scrape().text, HasSubstr(",uuid=\"GPU-"));
}

TEST_F(DcgmPods, AreRequiredBeforeTheirKeysHaveAnEffect) {
  host_.spec("    dcgm: {kubernetes_virtual_gpus: true}\n");
  const Ran plan = host_.slipway(words({"plan"}));
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.err + plan.out, HasSubstr("kubernetes_virtual_gpus has no effect without kubernetes: true"));
}

}  // namespace
}  // namespace slipway
