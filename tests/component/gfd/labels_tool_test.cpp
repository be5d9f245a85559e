// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/json.hpp>

#include "tests/component/gfd/program.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;

/// Returns the labels of a simulated machine, without the time.
std::map<std::string, std::string> labels_of(const std::string& profile, const std::string& more = "") {
  const Ran ran = run(SLIPWAY_PROGRAM " gfd labels --no-timestamp --sim " + profile + " " + more);
  EXPECT_EQ(ran.status, 0) << ran.errors;
  std::map<std::string, std::string> labels;
  std::istringstream lines(ran.output);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LT(last, line);  // sorted, each once
    last = line;
    const auto equals = line.find('=');
    labels[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return labels;
}

// Computed from the fact sheets of each model: product, memory, family, compute capability, count, MIG, CUDA.
TEST(GfdLabelsTool, PrintsTheLabelsOfTheFactSheetsForEveryProfile) {
  struct Row {
    const char* profile;
    const char* product;
    const char* memory;
    const char* family;
    const char* compute;
    const char* count;
    const char* mig;
    const char* driver;
  };
  const std::vector<Row> table{
      {"v100x8", "Tesla-V100-SXM2-32GB", "32768", "volta", "7.0", "8", "false", "550.90.07"},
      {"t4x4", "Tesla-T4", "15360", "turing", "7.5", "4", "false", "550.90.07"},
      {"a10gx4", "NVIDIA-A10G", "23028", "ampere", "8.6", "4", "false", "550.90.07"},
      {"l4x1", "NVIDIA-L4", "23034", "ada-lovelace", "8.9", "1", "false", "550.90.07"},
      {"l40sx4", "NVIDIA-L40S", "46068", "ada-lovelace", "8.9", "4", "false", "550.90.07"},
      {"a30x2", "NVIDIA-A30", "24576", "ampere", "8.0", "2", "true", "550.90.07"},
      {"a100-40x8", "NVIDIA-A100-SXM4-40GB", "40960", "ampere", "8.0", "8", "true", "550.90.07"},
      {"a100-80x8", "NVIDIA-A100-SXM4-80GB", "81920", "ampere", "8.0", "8", "true", "550.90.07"},
      {"h100x8", "NVIDIA-H100-80GB-HBM3", "81559", "hopper", "9.0", "8", "true", "550.90.07"},
      {"h200x8", "NVIDIA-H200", "143771", "hopper", "9.0", "8", "true", "550.90.07"},
      {"rtx-pro-6000x8", "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "97887", "blackwell", "12.0", "8", "true",
       "575.51.03"},
      {"b200x8", "NVIDIA-B200", "183359", "blackwell", "10.0", "8", "true", "570.133.20"},
      {"gb200x4", "NVIDIA-GB200", "189471", "blackwell", "10.0", "4", "true", "570.133.20"}};
  for (const Row& row : table) {
    auto labels = labels_of(row.profile);
    const std::string gpu = "nvidia.com/gpu.";
    EXPECT_EQ(labels[gpu + "product"], row.product);
    EXPECT_EQ(labels[gpu + "memory"], row.memory) << row.profile;
    EXPECT_EQ(labels[gpu + "family"], row.family) << row.profile;
    EXPECT_EQ(labels[gpu + "compute.major"] + "." + labels[gpu + "compute.minor"], row.compute) << row.profile;
    EXPECT_EQ(labels[gpu + "count"], row.count) << row.profile;
    EXPECT_EQ(labels["nvidia.com/mig.capable"], row.mig) << row.profile;
    EXPECT_EQ(labels["nvidia.com/cuda.driver-version.full"], row.driver) << row.profile;
    EXPECT_EQ(labels.size(), std::string(row.profile) == "gb200x4" ? 26U : 25U) << row.profile;
  }
}

/// Returns a file of expected labels, worked out by hand from GPU Feature Discovery's rules.
std::string expected(const std::string& name) { return content(std::string(GFD_EXPECTED "/") + name); }

TEST(GfdLabelsTool, PrintsAllOfAnH100Node) {
  EXPECT_EQ(run(SLIPWAY_PROGRAM " gfd labels --no-timestamp --sim h100x8").output, expected("h100x8"));
}

TEST(GfdLabelsTool, PrintsAllOfAnA100WithMixedMig) {
  const std::string sim = "--sim a100-40x1,mig=3g.20gb/2g.10gb/1g.5gb";
  EXPECT_EQ(run(SLIPWAY_PROGRAM " gfd labels --no-timestamp --mig-strategy mixed " + sim).output,
            expected("a100-40x1-mixed"));
}

TEST(GfdLabelsTool, PrintsAllOfAnH100NodeWithSingleMig) {
  const std::string sim = "--sim h100x8,mig=1g.10gb";
  EXPECT_EQ(run(SLIPWAY_PROGRAM " gfd labels --no-timestamp --mig-strategy single " + sim).output,
            expected("h100x8-single"));
}

TEST(GfdLabelsTool, SharesByTheDevicePluginsConfig) {
  const Folder folder;
  folder.file("config.yaml",
              "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n");
  auto labels = labels_of("t4x1", "--config-file " + folder.at("config.yaml"));
  EXPECT_EQ(labels["nvidia.com/gpu.product"], "Tesla-T4-SHARED");
  EXPECT_EQ(labels["nvidia.com/gpu.replicas"], "4");
  EXPECT_EQ(labels["nvidia.com/gpu.machine"], "g4dn.12xlarge");
}

// Before the fix, a ConfigMap was taken for a config without keys: one replica, although the device plugin offers four.
TEST(GfdLabelsTool, SharesByAConfigMapAndByShortForms) {
  const Folder folder;
  folder.file(
      "map.yaml",
      "apiVersion: v1\nkind: ConfigMap\ndata:\n  any: |\n    version: v1\n    sharing: {timeSlicing: {replicas: "
      "4}}\n  other: |\n    version: v1\n");
  EXPECT_EQ(labels_of("t4x1", "--config-file " + folder.at("map.yaml"))["nvidia.com/gpu.replicas"], "4");
  folder.file("short.yaml", "{sharing: {timeSlicing: {replicas: 4}}, mig: {strategy: mixed}}\n");
  auto labels = labels_of("t4x1", "--config-file " + folder.at("short.yaml"));
  EXPECT_EQ(labels["nvidia.com/gpu.replicas"] + labels["nvidia.com/mig.strategy"], "4mixed");
  folder.file("dump.yaml", "{version: v1, sharing: {timeSlicing: {}}}\n");
  EXPECT_EQ(labels_of("t4x1", "--config-file " + folder.at("dump.yaml"))["nvidia.com/gpu.replicas"], "1");
}

TEST(GfdLabelsTool, NamesTheCliqueOfARack) {
  EXPECT_EQ(labels_of("gb200x4")["nvidia.com/gpu.clique"], "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1");
}

TEST(GfdLabelsTool, NamesTheMostNumerousOfSeveralModels) {
  auto labels = labels_of("mixedx4");
  EXPECT_EQ(labels["nvidia.com/gpu.product"], "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(labels["nvidia.com/gpu.count"], "2");
}

TEST(GfdLabelsTool, PrintsTheHostOfAVgpu) {
  auto labels = labels_of("l4x1,vgpu=550.54.16/r550_40");
  EXPECT_EQ(labels["nvidia.com/vgpu.present"], "true");
  EXPECT_EQ(labels["nvidia.com/vgpu.host-driver-version"], "550.54.16");
  EXPECT_EQ(labels["nvidia.com/vgpu.host-driver-branch"], "r550_40");
}

TEST(GfdLabelsTool, PrintsTheRemainingLabelsWithoutGpusOrDriver) {
  EXPECT_EQ(run(SLIPWAY_PROGRAM " gfd labels --no-timestamp --sim empty").output, "nvidia.com/vgpu.present=false\n");
  EXPECT_EQ(run(SLIPWAY_PROGRAM " gfd labels --no-timestamp --sim t4x4,driver=none").output,
            "nvidia.com/vgpu.present=false\n");
  const Ran strict = run(SLIPWAY_PROGRAM " gfd labels --fail-on-init-error --sim t4x4,driver=none");
  EXPECT_EQ(strict.status, 1);
  EXPECT_THAT(strict.errors, HasSubstr("NVML_ERROR_DRIVER_NOT_LOADED, 9"));
}

TEST(GfdLabelsTool, WritesAFileAndLeavesItAloneWhenNothingChanged) {
  const Folder folder;
  const std::string file = folder.at("features.d/gfd");
  const std::string command = SLIPWAY_PROGRAM " gfd labels --no-timestamp --sim t4x4 --output " + file;
  ASSERT_EQ(run(command).status, 0);
  const auto first = written(file);
  EXPECT_EQ(content(file), run(SLIPWAY_PROGRAM " gfd labels --no-timestamp --sim t4x4").output);
  ASSERT_EQ(run(command).status, 0);
  EXPECT_EQ(written(file), first);
}

TEST(GfdLabelsTool, KeepsMigStateBelowTheRootFromCallToCall) {
  const Folder folder;
  const std::string sim = " --sim h100x2 --root " + folder.path();
  ASSERT_EQ(run(SLIPWAY_PROGRAM " gfd labels" + sim).status, 0);
  ASSERT_EQ(run(SLIPWAY_SIM_PROGRAM " " + folder.at("run/slipway/sim") + " gpu all mig on").status, 0);
  EXPECT_THAT(run(SLIPWAY_PROGRAM " gfd labels --mig-strategy single" + sim).output, HasSubstr("-MIG-INVALID"));
}

// Before the fix, one lost GPU of four left a new node without any label, so that no pod was scheduled to the other
// three.
TEST(GfdLabelsTool, LeavesOutAGpuThatIsLostWithAWarning) {
  const Folder folder;
  const std::string sim = " --sim h100x4 --root " + folder.path();
  const std::string file = folder.at("labels");
  ASSERT_EQ(run(SLIPWAY_PROGRAM " gfd labels --output " + file + sim).status, 0);
  ASSERT_EQ(run(SLIPWAY_SIM_PROGRAM " " + folder.at("run/slipway/sim") + " gpu 1 lost").status, 0);
  const Ran lost = run(SLIPWAY_PROGRAM " gfd labels --output " + file + sim);
  EXPECT_EQ(lost.status, 0);
  EXPECT_THAT(lost.errors, HasSubstr("left out, since it does not answer: nvml: GPU 1: the GPU fell off the bus"));
  EXPECT_THAT(content(file), HasSubstr("nvidia.com/gpu.count=3\n"));
}

TEST(GfdLabelsTool, FailsWhenEveryGpuIsLostAndWritesNothing) {
  const Folder folder;
  const std::string sim = " --sim h100x2 --root " + folder.path();
  const std::string file = folder.at("labels");
  ASSERT_EQ(run(SLIPWAY_PROGRAM " gfd labels --output " + file + sim).status, 0);
  const std::string good = content(file);
  ASSERT_EQ(run(SLIPWAY_SIM_PROGRAM " " + folder.at("run/slipway/sim") + " gpu all lost").status, 0);
  const Ran lost = run(SLIPWAY_PROGRAM " gfd labels --output " + file + sim);
  EXPECT_EQ(lost.status, 1);
  EXPECT_THAT(lost.errors, HasSubstr("GPU 0: the GPU fell off the bus"));
  EXPECT_EQ(content(file), good);
}

TEST(GfdDevicesTool, PrintsAnObjectForEachGpu) {
  const Ran ran = run(SLIPWAY_PROGRAM " gfd devices -o yaml --node-name worker-1 --sim h100x8");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("name: \"gpu-7-node-worker-1\""));
  EXPECT_THAT(ran.output, HasSubstr("memory: 81559"));
}

TEST(GfdLabelsTool, PrintsObjectsForACluster) {
  const std::string labels = SLIPWAY_PROGRAM " gfd labels --no-timestamp --sim h100x8 ";
  const Ran feature = run(labels + "-o nodefeature --node-name worker-1 --namespace nfd");
  ASSERT_EQ(feature.status, 0) << feature.errors;
  const Json object = Json::parse(feature.output);
  EXPECT_EQ(object["kind"], "NodeFeature");
  EXPECT_EQ(object["metadata"]["name"], "nvidia-features-for-worker-1");
  EXPECT_EQ(object["metadata"]["namespace"], "nfd");
  EXPECT_EQ(object["spec"]["labels"]["nvidia.com/gpu.count"], "8");
  const Ran patch = run(labels + "-o node-patch --pci-labels");
  ASSERT_EQ(patch.status, 0) << patch.errors;
  EXPECT_EQ(Json::parse(patch.output)["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"], "true");
  for (const char* idle : {"--namespace nfd", "-o json --node-name worker-1", "-o node-patch --namespace nfd"})
    EXPECT_EQ(run(labels + idle).status, 64) << idle;
}

TEST(GfdTools, NameAWrongOption) {
  const Ran ran = run(SLIPWAY_PROGRAM " gfd labels --mig-strategy both --sim t4x1");
  EXPECT_EQ(ran.status, 64);
  EXPECT_THAT(ran.errors, HasSubstr("takes none, single or mixed"));
}

TEST(GfdTools, WarnOfAnIgnoredKey) {
  const Folder folder;
  folder.file("config.yaml", "version: v1\nflags: {migStratgy: mixed}\n");
  const std::string file = folder.at("config.yaml");
  for (const char* tool : {" gfd labels", " deviceplugin resources"}) {
    const Ran ran = run(std::string(SLIPWAY_PROGRAM) + tool + " --sim t4x1 --config-file " + file);
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.errors, HasSubstr(file + ":2:")) << tool;
    EXPECT_THAT(ran.errors, HasSubstr("did you mean 'migStrategy'?")) << tool;
  }
}

}  // namespace
}  // namespace slipway
