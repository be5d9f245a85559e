// SPDX-License-Identifier: Apache-2.0
#include "sim/model/profile.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sim/model/model.hpp"

namespace slipway::sim {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::vector<std::string> kFolders = {SLIPWAY_SIM_SOURCE_FOLDER};

std::size_t count(const SimProfile& profile, const std::string& role) {
  return static_cast<std::size_t>(std::count_if(profile.pci.begin(), profile.pci.end(),
                                                [&role](const auto& function) { return function.role == role; }));
}

/// Writes a test profile and reads it.
Result<SimProfile> read_text(const std::string& text) {
  const auto file = fs::path(::testing::TempDir()) / ("slipway-profile-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << text;
  auto profile = read_sim_profile(file.string(), {});
  fs::remove(file);
  return profile;
}

const std::string kHead = "apiVersion: slipway.dev/sim/v1\nname: x\nabout: y\nmachine: {arch: x86_64, kernel: 6.1}\n";

TEST(SimProfile, EachOfSlipwaysCanBeReadAndHasTheNameOfItsFile) {
  const auto names = sim_profile_names(kFolders);
  ASSERT_GE(names.size(), 12U);
  for (const auto& name : names) {
    const auto profile = read_sim_profile(name, kFolders);
    ASSERT_TRUE(profile.ok()) << to_text(profile.error());
    EXPECT_EQ(profile->name, name);
    EXPECT_FALSE(profile->kernel_release.empty());
  }
}

TEST(SimProfile, EachOfSlipwaysHasTheNumberOfNvidiaGpusInItsName) {
  for (const auto& name : sim_profile_names(kFolders)) {
    const auto profile = read_sim_profile(name, kFolders);
    ASSERT_TRUE(profile.ok()) << to_text(profile.error());
    const std::string wanted = name == "empty" ? "0" : name.substr(name.rfind('x') + 1);
    EXPECT_EQ(std::to_string(count(*profile, "gpu")), wanted) << name;
    for (const auto& function : profile->pci) EXPECT_EQ(function.vendor == 0x10de, function.role != "other") << name;
  }
}

TEST(SimProfile, AnHgxH100HasEightGpusOnTwoNumaNodesAndFourNvSwitches) {
  const auto profile = read_sim_profile("h100x8", kFolders);
  ASSERT_TRUE(profile.ok()) << to_text(profile.error());
  EXPECT_EQ(count(*profile, "gpu"), 8U);
  EXPECT_EQ(count(*profile, "nvswitch"), 4U);
  const auto& gpu = profile->pci.back();
  EXPECT_EQ(gpu.device, 0x2330);
  EXPECT_EQ(gpu.device_class, 0x030200U);
  EXPECT_EQ(gpu.numa_node, 1U);
}

TEST(SimProfile, ASmallerCountGivesTheFirstGpusWithoutSwitches) {
  const auto whole = read_sim_profile("h100x8", kFolders);
  const auto part = read_sim_profile("h100x2", kFolders);
  ASSERT_TRUE(whole.ok() && part.ok());
  EXPECT_EQ(part->name, "h100x2");
  ASSERT_EQ(part->pci.size(), 2U);
  EXPECT_EQ(count(*part, "gpu"), 2U);
  EXPECT_EQ(part->pci[0].address, "0000:18:00.0");
  EXPECT_EQ(part->pci[1].address, "0000:2a:00.0");
}

TEST(SimProfile, ACountBeyondTheMachineIsRefusedAndTheKnownProfilesAreListed) {
  const auto profile = read_sim_profile("h100x9", kFolders);
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code, ErrorCode::not_found);
  EXPECT_THAT(profile.error().next, HasSubstr("h100x8"));
  EXPECT_THAT(profile.error().next, HasSubstr("empty"));
}

TEST(SimProfile, AnUnknownNameIsRefusedEvenWhenItLooksLikeACount) {
  for (const auto* name : {"nonsense", "x8", "h100x0", "h100x", "h100x8x", "h100x99999999999999999999"})
    EXPECT_FALSE(read_sim_profile(name, kFolders).ok()) << name;
}

// Slipway's own models are below its build folder and its sources. Before the fix, each was listed twice.
TEST(SimModel, ThatIsUnknownIsRefusedWithAListThatHasEachOnce) {
  const auto model = find_sim_model("NVIDIA Z9", {kFolders.front(), kFolders.front()});
  ASSERT_FALSE(model.ok());
  const std::string list = to_text(model.error());
  const std::size_t first = list.find("NVIDIA A30");
  ASSERT_NE(first, std::string::npos) << list;
  EXPECT_EQ(list.find("NVIDIA A30", first + 1), std::string::npos) << list;
}

TEST(SimProfile, NamesTheSearchedFoldersWhenThereAreNoProfiles) {
  const auto profile = read_sim_profile("h100x8", {"/nowhere"});
  ASSERT_FALSE(profile.ok());
  EXPECT_THAT(to_text(profile.error()), HasSubstr("/nowhere"));
}

TEST(SimProfile, AMissingFileIsNotFound) {
  const auto profile = read_sim_profile("/nowhere/x.yaml", kFolders);
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code, ErrorCode::not_found);
}

TEST(SimProfile, FilesLinksAndNodesOfTheKernelAreRead) {
  const auto profile = read_text(kHead +
                                 "files: {/sys/class/kfd/version: \"1\\n\"}\nlinks: {/sys/class/a: ../b}\n"
                                 "nodes: {/dev/kfd: {major: 235, minor: 0}}\n");
  ASSERT_TRUE(profile.ok()) << to_text(profile.error());
  EXPECT_EQ(profile->files.at("/sys/class/kfd/version"), "1\n");
  EXPECT_EQ(profile->file_links.at("/sys/class/a"), "../b");
  EXPECT_EQ(profile->nodes.at("/dev/kfd"), std::pair(235U, 0U));
  for (const char* bad : {"files: {/etc/x: a}\n", "files: {/sys/../etc/x: a}\n", "links: {sys/x: a}\n",
                          "nodes: {/sys/x: {major: 1, minor: 1}}\n"}) {
    const auto refused = read_text(kHead + bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_THAT(refused.error().what, HasSubstr("is not a path of the kernel's")) << bad;
  }
}

TEST(SimProfile, ModulesSecureBootAndMajorsAreRead) {
  const auto profile = read_text(
      "apiVersion: slipway.dev/sim/v1\nname: x\nabout: y\n"
      "machine: {arch: x86_64, kernel: 6.1, secure_boot: true}\n"
      "modules: [{name: nvidia, version: 535.261.03, size_bytes: 56000000}, {name: nouveau}]\n"
      "character_majors: [{major: 195, name: nvidia-frontend}]\n");
  ASSERT_TRUE(profile.ok()) << to_text(profile.error());
  EXPECT_EQ(profile->secure_boot, true);
  ASSERT_EQ(profile->modules.size(), 2U);
  EXPECT_EQ(profile->modules[0].version, "535.261.03");
  EXPECT_EQ(profile->modules[0].size_bytes, 56000000U);
  EXPECT_THAT(profile->character_majors, Contains(std::pair(195U, std::string("nvidia-frontend"))));
}

struct BadProfile {
  const char* name;
  const char* text;      ///< "+" in front: after a valid head
  const char* position;  ///< "line:column" that the error must name
  const char* says;
};
void PrintTo(const BadProfile& one, std::ostream* out) { *out << one.name; }

class BadProfiles : public ::testing::TestWithParam<BadProfile> {};

TEST_P(BadProfiles, AreRefusedWithTheirPlaceAndWhatWasExpected) {
  const auto profile = read_text(GetParam().text[0] == '+' ? kHead + (GetParam().text + 1) : GetParam().text);
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code, ErrorCode::invalid);
  EXPECT_THAT(profile.error().where, HasSubstr(GetParam().position));
  EXPECT_THAT(to_text(profile.error()), HasSubstr(GetParam().says));
}

#define FUNCTION "role: gpu, vendor: '0x10de', class: '0x030200'"
INSTANTIATE_TEST_SUITE_P(
    All, BadProfiles,
    ::testing::Values(BadProfile{"PlainText", "just text", "1:1", "expected a map"},
                      BadProfile{"AnotherApiVersion",
                                 "apiVersion: slipway.dev/sim/v2\nname: x\nabout: y\nmachine: {arch: a, kernel: b}\n",
                                 "1:13", "slipway.dev/sim/v1"},
                      BadProfile{"NoMachine", "apiVersion: slipway.dev/sim/v1\nname: x\nabout: y\n", "1:1", "machine"},
                      BadProfile{"AMistypedKey", "+modulse: []\n", "5:1", "did you mean 'modules'"},
                      BadProfile{"AnUnknownRole",
                                 "+pci: [{role: cpu, vendor: '0x10de', class: '0x030200', device: '0x2330', at: []}]\n",
                                 "5:14", "nvswitch"},
                      BadProfile{"ADecimalId", "+pci: [{" FUNCTION ", device: 9008, at: []}]\n", "5:64",
                                 "four hexadecimal digits after 0x"},
                      BadProfile{"AShortAddress",
                                 "+pci: [{" FUNCTION ", device: '0x2330', at: [{address: '1b:00.0'}]}]\n", "5:89",
                                 "1b:00.0"},
                      BadProfile{"ANegativeNumaNode",
                                 "+pci: [{" FUNCTION
                                 ", device: '0x2330', at: [{address: '0000:1b:00.0', numa_node: -1}]}]\n",
                                 "5:105", "not negative"},
                      BadProfile{"AnAddressTwice",
                                 "+pci: [{" FUNCTION
                                 ", device: '0x2330', at: [{address: '0000:1b:00.0'}, {address: '0000:1b:00.0'}]}]\n",
                                 "5:107", "0000:1b:00.0 appears twice"},
                      BadProfile{"TwoDocuments", "a: 1\n---\nb: 2\n", "", "one YAML document"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace slipway::sim
