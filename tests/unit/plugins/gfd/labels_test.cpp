// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::gfd {
namespace {

/// Upstream's invented model: 300 MiB, compute capability 8.0, and 0.0 where MIG is on.
Gpu full(const std::string& name = "MOCKMODEL") {
  Gpu gpu{.name = name, .uuid = "GPU-1", .address = "0000:01:00.0", .memory_mib = 300};
  gpu.compute_major = 8;
  gpu.device_class = 0x030200;
  return gpu;
}

Gpu with_mig(const std::vector<std::string>& profiles) {
  Gpu gpu = full();
  gpu.compute_major = 0;
  gpu.mig_capable = gpu.mig_enabled = true;
  for (const std::string& profile : profiles)
    gpu.mig.push_back(
        {.profile = profile,
         .attributes = {.gpuInstanceSliceCount = 1, .computeInstanceSliceCount = 2, .memorySizeMB = 100}});
  return gpu;
}

Sources sources_of(std::vector<Gpu> gpus) {
  Sources sources{.machine_type = "PowerEdge XE9680", .vgpu_known = true, .timestamp = 1755600000};
  sources.snapshot = {.driver_version = "550.90.07", .cuda_major = 12, .cuda_minor = 4, .gpus = std::move(gpus)};
  return sources;
}

Config sharing(const std::string& resource, unsigned replicas,
               nvidia::config::SharingKind kind = nvidia::config::SharingKind::time_slicing) {
  Config config;
  config.sharing.kind = kind;
  auto& shared = config.sharing.resources.emplace_back();
  shared.name = resource;
  shared.replicas = replicas;
  return config;
}

Config mig(MigStrategy strategy, Config config = {}) {
  config.mig_strategy = strategy;
  return config;
}

/// Returns one label, or "-" when it is missing.
class Made {
 public:
  Made(const std::vector<Gpu>& gpus, const Config& config) {
    auto made = make_labels(sources_of(gpus), config);
    EXPECT_TRUE(made.ok());
    if (made) labels_ = *made;
  }
  std::string operator[](const std::string& key) const {
    const auto found = labels_.find("nvidia.com/" + key);
    return found == labels_.end() ? "-" : found->second;
  }
  /// count, replicas, strategy, memory, product and family, as in upstream's table of cases.
  std::string row(const std::string& prefix = "gpu") const {
    std::string text;
    for (const char* key : {".count", ".replicas", ".sharing-strategy", ".memory", ".product", ".family"})
      text += (text.empty() ? "" : " ") + (*this)[prefix + key];
    return text;
  }

 private:
  Labels labels_;
};

const Config kShared = sharing("nvidia.com/gpu", 2);

TEST(GfdLabels, OfFullGpusFollowSharing) {
  EXPECT_EQ(Made({full()}, {}).row(), "1 1 none 300 MOCKMODEL ampere");
  EXPECT_EQ(Made({full()}, kShared).row(), "1 2 time-slicing 300 MOCKMODEL-SHARED ampere");
  EXPECT_EQ(Made({full(), full()}, kShared).row(), "2 2 time-slicing 300 MOCKMODEL-SHARED ampere");
  EXPECT_EQ(Made({full()}, sharing("nvidia.com/other", 2)).row(), "1 1 none 300 MOCKMODEL ampere");
  Config renamed = kShared;
  renamed.sharing.rename_by_default = true;
  EXPECT_EQ(Made({full()}, renamed).row(), "1 2 time-slicing 300 MOCKMODEL ampere");
}

std::vector<Gpu> eight() {
  std::vector<Gpu> gpus(8, full());
  for (unsigned i = 0; i < 8; ++i) {
    gpus[i].index = i;
    gpus[i].uuid = "GPU-" + std::to_string(i);
  }
  return gpus;
}

Config sharing_of_two(const std::string& rename) {
  Config config = sharing("nvidia.com/gpu", 4);
  auto& shared = config.sharing.resources.front();
  shared.devices = {.all = false, .count = {}, .list = {"0", "GPU-1"}, .products = {}};
  shared.rename = rename;
  return config;
}

// Before the fix, with devices: [0, 1], all eight were reported as shared.
TEST(GfdLabels, OfAResourceThatIsSharedInPartTellBothParts) {
  const Made both(eight(), sharing_of_two(""));
  EXPECT_EQ(both.row(), "8 4 time-slicing 300 MOCKMODEL-SHARED ampere");
  EXPECT_EQ(both["gpu.count.shared"] + both["gpu.count.exclusive"], "26");
  const Made renamed(eight(), sharing_of_two("nvidia.com/gpu.few"));
  EXPECT_EQ(renamed.row(), "6 1 none 300 MOCKMODEL ampere");
  EXPECT_EQ(renamed.row("gpu.few"), "2 4 time-slicing 300 MOCKMODEL -");
  EXPECT_EQ(renamed["gpu.count.shared"], "-");
  Config by_default = sharing_of_two("");
  by_default.sharing.rename_by_default = true;
  EXPECT_EQ(Made(eight(), by_default).row("gpu.shared"), "2 4 time-slicing 300 MOCKMODEL -");
  EXPECT_EQ(Made(eight(), kShared)["gpu.count.shared"], "-") << "as NVIDIA's, where all are shared";
}

TEST(GfdLabels, OfMigDevicesThatAreSharedInPartTellBothParts) {
  Config config = mig(MigStrategy::mixed, sharing("nvidia.com/mig-1g.10gb", 3));
  config.sharing.resources.front().devices = {.all = false, .count = 1U, .list = {}, .products = {}};
  const std::vector<Gpu> gpus{with_mig({"1g.10gb", "1g.10gb", "2g.20gb"})};
  const Made both(gpus, config);
  EXPECT_EQ(both.row("mig-1g.10gb"), "2 3 time-slicing 100 MOCKMODEL-MIG-1g.10gb-SHARED -");
  EXPECT_EQ(both["mig-1g.10gb.count.shared"] + both["mig-1g.10gb.count.exclusive"], "11");
  EXPECT_EQ(both["mig-2g.20gb.replicas"], "1");
  config.sharing.resources.front().rename = "nvidia.com/slices";
  const Made renamed(gpus, config);
  EXPECT_EQ(renamed.row("mig-1g.10gb"), "1 1 none 100 MOCKMODEL-MIG-1g.10gb -");
  EXPECT_EQ(renamed.row("slices"), "1 3 time-slicing 100 MOCKMODEL-MIG-1g.10gb -");
}

// Before the fix, the labels showed one replica and no sharing, where deviceplugin offers two of each under the
// config's own name.
TEST(GfdLabels, FollowTheSharingOfEachNamedResource) {
  Config config = sharing("nvidia.com/mock", 2);
  config.gpu_names = {{"*MOCK*", "nvidia.com/mock"}};
  EXPECT_EQ(Made({full(), full()}, config).row(), "2 2 time-slicing 300 MOCKMODEL-SHARED ampere");
  EXPECT_EQ(Made({full()}, config)["mock.count"], "-") << "it has no labels of its own";
  Config slices = mig(MigStrategy::mixed, sharing("nvidia.com/mig-small", 3));
  slices.mig_names = {{"1g.10gb", "nvidia.com/mig-small"}};
  const Made made({with_mig({"1g.10gb", "1g.10gb", "2g.20gb"})}, slices);
  EXPECT_EQ(made.row("mig-1g.10gb"), "2 3 time-slicing 100 MOCKMODEL-MIG-1g.10gb-SHARED -");
  EXPECT_EQ(made["mig-2g.20gb.replicas"], "1");
}

// Before the fix, two GPUs with separate names gave no labels of the names, while eight gave them.
TEST(GfdLabels, OfRenamedGpusHaveTheirNamesAndTheTotal) {
  Config config = sharing("nvidia.com/gpu", 8);
  auto& first = config.sharing.resources.front();
  first.devices = {.all = false, .count = {}, .list = {"0"}, .products = {}};
  first.rename = "nvidia.com/gpu-0";
  auto second = first;
  second.devices.list = {"1"};
  second.rename = "nvidia.com/gpu-1";
  config.sharing.resources.push_back(second);
  std::vector<Gpu> two(2, full());
  two[1].index = 1;
  const Made made(two, config);
  EXPECT_EQ(made.row(), "2 8 time-slicing 300 MOCKMODEL ampere") << "as NVIDIA's";
  EXPECT_EQ(made.row("gpu-0"), "1 8 time-slicing 300 MOCKMODEL -");
  EXPECT_EQ(made.row("gpu-1"), "1 8 time-slicing 300 MOCKMODEL -");
  const Made eight_gpus(eight(), config);
  EXPECT_EQ(eight_gpus["gpu.count"] + eight_gpus["gpu-0.count"] + eight_gpus["gpu-1.count"], "611");
}

// NVML renumbers when a GPU is missing. Before the fix, the labels did so too: the next GPU was reported as shared.
TEST(GfdLabels, GiveNoLostGpusIndexToAnother) {
  Config config = sharing("nvidia.com/gpu", 4);
  auto& entry = config.sharing.resources.front();
  entry.rename = "nvidia.com/few";
  entry.devices = {.all = false, .count = {}, .list = {"1", "2"}, .products = {}};
  Sources sources = sources_of({full(), full()});
  sources.snapshot.gpus[0].place = 0;
  sources.snapshot.gpus[1].index = 1;
  sources.snapshot.gpus[1].place = 2;
  sources.snapshot.absent = {{1, "0000:02:00.0", "MOCKMODEL"}};
  auto labels = make_labels(sources, config);
  ASSERT_TRUE(labels);
  EXPECT_EQ((*labels)["nvidia.com/few.count"], "1");
  EXPECT_EQ((*labels)["nvidia.com/gpu.count"], "1");
  entry.devices = {.all = false, .count = 2U, .list = {}, .products = {}};
  labels = make_labels(sources, config);
  ASSERT_TRUE(labels);
  EXPECT_EQ((*labels)["nvidia.com/few.count"], "1") << "the first two are GPU 0 and the lost one";
  EXPECT_TRUE(unmatched_sharing(sources.snapshot.gpus, sharing_of_two(""), sources.snapshot.absent).empty());
}

// Before the fix, the labels gave no message where deviceplugin refuses devices: [99].
TEST(GfdLabels, ReportSharedDevicesThatAreMissing) {
  Config config = sharing("nvidia.com/gpu", 2);
  auto& devices = config.sharing.resources.front().devices;
  config.sharing.resources.front().where = "dp.yaml:3:7";
  devices.list = {"0", "99"};
  devices.products = {"MOCKMODEL", "B200*"};
  const auto other = sharing("nvidia.com/other", 2).sharing.resources.front();
  config.sharing.resources.push_back(other);
  EXPECT_THAT(unmatched_sharing({full()}, config),
              ::testing::ElementsAre("dp.yaml:3:7: there is no device 99 to share, and deviceplugin refuses this",
                                     "dp.yaml:3:7: no GPU here is a 'B200*'",
                                     ": there is no resource nvidia.com/other to share"));
  config.named_resources = {"nvidia.com/other"};
  EXPECT_EQ(unmatched_sharing({full()}, config).size(), 2U) << "the config makes that resource";
  EXPECT_TRUE(unmatched_sharing({}, config).empty()) << "without a driver nobody can tell";
}

TEST(GfdLabels, OfGpusInMigModeHaveNoReplicas) {
  EXPECT_EQ(Made({with_mig({})}, kShared).row(), "1 0 none 300 MOCKMODEL -");
  EXPECT_EQ(Made({with_mig({}), with_mig({})}, kShared).row(), "2 0 none 300 MOCKMODEL -");
  EXPECT_EQ(Made({with_mig({}), full()}, kShared).row(), "2 2 time-slicing 300 MOCKMODEL-SHARED ampere");
}

TEST(GfdLabels, OfStrategySingleShowMigDevicesAsGpus) {
  const Config single = mig(MigStrategy::single);
  const Made off({full(), full()}, single);
  EXPECT_EQ(off.row(), "2 1 none 300 MOCKMODEL ampere");
  EXPECT_EQ(off["mig.strategy"], "single");
  const Made one({with_mig({"1g.100gb"})}, single);
  EXPECT_EQ(one.row(), "1 1 none 100 MOCKMODEL-MIG-1g.100gb -");
  EXPECT_EQ(one["gpu.slices.gi"] + one["gpu.slices.ci"] + one["gpu.engines.jpeg"], "120");
  EXPECT_EQ(Made({with_mig({"1g.100gb"}), with_mig({"1g.100gb"})}, single)["gpu.count"], "2");
  EXPECT_EQ(Made({with_mig({"1g.100gb"})}, mig(MigStrategy::single, kShared)).row(),
            "1 2 time-slicing 100 MOCKMODEL-MIG-1g.100gb-SHARED -");
}

TEST(GfdLabels, OfStrategySingleReportAnUnsuitableLayout) {
  const Config single = mig(MigStrategy::single);
  EXPECT_EQ(Made({with_mig({})}, single).row(), "0 0  0 MOCKMODEL-MIG-INVALID -");
  EXPECT_EQ(Made({with_mig({"1g.1gb", "2g.2gb"})}, single).row(), "0 0  0 MOCKMODEL-MIG-INVALID -");
  EXPECT_EQ(Made({with_mig({"1g.1gb"}), full()}, single).row(), "0 0  0 MOCKMODEL-MIG-INVALID ampere");
}

TEST(GfdLabels, OfStrategyMixedHaveABlockForEachProfile) {
  Config config = mig(MigStrategy::mixed, sharing("nvidia.com/mig-1g.1gb", 2));
  const Made made({with_mig({"1g.1gb", "1g.1gb+me"}), with_mig({"1g.1gb"}), with_mig({})}, config);
  EXPECT_EQ(made.row("mig-1g.1gb"), "2 2 time-slicing 100 MOCKMODEL-MIG-1g.1gb-SHARED -");
  EXPECT_EQ(made.row("mig-1g.1gb.me"), "1 1 none 100 MOCKMODEL-MIG-1g.1gb.me -");
  EXPECT_EQ(made.row(), "3 0 none 300 MOCKMODEL -");
}

TEST(GfdLabels, OfMpsAreRefusedWithMig) {
  const Config mps = sharing("nvidia.com/gpu", 4, nvidia::config::SharingKind::mps);
  EXPECT_EQ(Made({full()}, mps)["mps.capable"], "true");
  EXPECT_EQ(Made({full()}, mps)["gpu.sharing-strategy"], "mps");
  EXPECT_FALSE(make_labels(sources_of({with_mig({})}), mps).ok());
}

TEST(GfdLabels, OfSeveralModelsNameTheMostNumerousInAnyOrder) {
  const std::vector<Gpu> gpus{full("B"), full("A"), full("A")};
  EXPECT_EQ(Made(gpus, {})["gpu.product"], "A");
  EXPECT_EQ(Made({gpus[1], gpus[2], gpus[0]}, {})["gpu.product"], "A");
  EXPECT_EQ(Made({full("B"), full("A")}, {})["gpu.product"], "B");  // of equal ones, the one with the lowest index
}

TEST(GfdLabels, ReportTheModeByThePciClass) {
  Gpu vga = full();
  vga.device_class = 0x030000;
  Gpu bridge = full();
  bridge.device_class = 0x068000;
  EXPECT_EQ(Made({full(), full()}, {})["gpu.mode"], "compute");
  EXPECT_EQ(Made({vga}, {})["gpu.mode"], "graphics");
  EXPECT_EQ(Made({vga, full()}, {})["gpu.mode"], "unknown");
  EXPECT_EQ(Made({bridge}, {})["gpu.mode"], "unknown");
}

TEST(GfdLabels, NameTheCliqueWhenAllAgree) {
  Gpu one = full();
  one.clique = "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1";
  Gpu other = full();
  other.clique = "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.2";
  EXPECT_EQ(Made({one, full()}, {})["gpu.clique"], one.clique);
  EXPECT_EQ(Made({one, other}, {})["gpu.clique"], "-");
}

TEST(GfdLabels, WithoutAGpuAreTwoLabels) {
  Sources sources = sources_of({});
  const auto labels = make_labels(sources, {});
  EXPECT_EQ(to_lines(*labels), "nvidia.com/gfd.timestamp=1755600000\nnvidia.com/vgpu.present=false\n");
  Config quiet;
  quiet.timestamp = false;
  sources.vgpu_known = false;
  EXPECT_EQ(to_lines(*make_labels(sources, quiet)), "");
}

TEST(GfdLabels, IncludeTheHostOfAVgpu) {
  Sources sources = sources_of({full()});
  sources.vgpu = VgpuHost{"550.54.16", "r550_40"};
  const auto labels = make_labels(sources, {});
  EXPECT_EQ(labels->at("nvidia.com/vgpu.present"), "true");
  EXPECT_EQ(labels->at("nvidia.com/vgpu.host-driver-version"), "550.54.16");
  EXPECT_EQ(labels->at("nvidia.com/vgpu.host-driver-branch"), "r550_40");
}

TEST(GfdLabels, HaveEmptyRevisionsForShortVersionsAndRefuseOthers) {
  Sources sources = sources_of({full()});
  sources.snapshot.driver_version = "550.90";
  EXPECT_EQ(make_labels(sources, {})->at("nvidia.com/cuda.driver-version.revision"), "");
  sources.snapshot.driver_version = "550";
  EXPECT_FALSE(make_labels(sources, {}).ok());
}

TEST(GfdLabels, OfTheOperatorComeOnRequestAndForGpusWithoutADriver) {
  Sources sources = sources_of({});
  sources.gpu_on_bus = true;
  Config config;
  config.operator_labels = true;
  const auto labels = make_labels(sources, config);
  EXPECT_EQ(labels->at("nvidia.com/gpu.present"), "true");
  EXPECT_EQ(labels->at("nvidia.com/gpu.deploy.driver"), "true");
  EXPECT_EQ(labels->count("nvidia.com/gpu.deploy.mig-manager"), 0U);
  EXPECT_EQ(make_labels(sources_of({with_mig({})}), config)->count("nvidia.com/gpu.deploy.mig-manager"), 1U);
}

TEST(GfdLabels, OfThePciBusAreThoseOfNodeFeatureDiscovery) {
  Sources sources = sources_of({});
  Config config;
  config.pci_labels = true;
  const std::string key = "feature.node.kubernetes.io/pci-10de.present";
  EXPECT_EQ(make_labels(sources, config)->count(key), 0U);
  sources.gpu_on_bus = true;  // also without a driver
  EXPECT_EQ(make_labels(sources, config)->at(key), "true");
  EXPECT_EQ(make_labels(sources, Config())->count(key), 0U);
}

// The families of all compute capabilities that belong to one.
TEST(GfdLabels, IncludeTheFamily) {
  const std::vector<std::tuple<int, int, std::string>> table{
      {7, 0, "volta"},        {7, 5, "turing"},     {8, 6, "ampere"},     {8, 7, "ampere"},
      {8, 9, "ada-lovelace"}, {9, 0, "hopper"},     {10, 0, "blackwell"}, {12, 0, "blackwell"},
      {13, 0, "rubin"},       {11, 0, "undefined"}, {4, 0, "undefined"}};
  for (const auto& [major, minor, family] : table) {
    Gpu gpu = full();
    gpu.compute_major = major;
    gpu.compute_minor = minor;
    EXPECT_EQ(Made({gpu}, {})["gpu.family"], family) << major << "." << minor;
  }
}

TEST(GfdDevices, AreObjectsWithValidNames) {
  Snapshot snapshot;
  snapshot.gpus = {full("NVIDIA H100 80GB HBM3")};
  const auto objects = device_objects(snapshot, "Node_A.example");
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects[0]["metadata"]["name"], "gpu-0-node-node-a.example");
  EXPECT_EQ(objects[0], Json::parse(R"({
    "apiVersion": "gpu.nvidia.com/v1", "kind": "Device",
    "metadata": {"name": "gpu-0-node-node-a.example",
                 "labels": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.uuid": "GPU-1"}},
    "spec": {"node": "Node_A.example", "index": 0, "product": "NVIDIA-H100-80GB-HBM3", "memory": 300}})"));
  EXPECT_EQ(to_yaml(objects),
            "---\napiVersion: gpu.nvidia.com/v1\nkind: Device\nmetadata:\n  name: \"gpu-0-node-node-a.example\"\n"
            "  labels:\n    nvidia.com/gpu.product: \"NVIDIA-H100-80GB-HBM3\"\n    nvidia.com/gpu.uuid: \"GPU-1\"\n"
            "spec:\n  node: \"Node_A.example\"\n  index: 0\n  product: \"NVIDIA-H100-80GB-HBM3\"\n  memory: 300\n");
}

}  // namespace
}  // namespace slipway::gfd
