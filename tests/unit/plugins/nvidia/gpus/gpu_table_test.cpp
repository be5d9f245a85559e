// SPDX-License-Identifier: Apache-2.0
#include "nvidia/gpus/gpu_table.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>

namespace slipway::nvidia {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of(const std::string& text) {
  GpuTable table = GpuTable::built_in();
  return to_text(table.add("version: v1\n" + text, "/etc/slipway/gpus.yaml").error());
}

// The rows are made by a program that checks little; the reader of such files checks everything.
TEST(GpuTable, CompiledInIsTheFileInTheSources) {
  GpuTable table = GpuTable::built_in();
  const auto added = table.add(text_of(SLIPWAY_GPUS_FILE), "gpus.yaml");
  ASSERT_TRUE(added) << to_text(added.error());
  EXPECT_TRUE(table.renewals().is_null()) << "the rows and the file differ";
}

// amazon-eks-ami#2768: a GPU that was newer than the image got the wrong modules until there was a new image.
TEST(GpuTable, LearnsANewGpuFromAFile) {
  GpuTable table = GpuTable::built_in();
  const auto added = table.add(
      "version: v1\n"
      "architectures:\n  feynman: {first_branch: 650, first_open_branch: 650, requires_open: true}\n"
      "chips:\n  3a00-3aff: {architecture: feynman, compute: \"13.0\"}\n  1eb8: {architecture: turing, last_branch: "
      "700}\n"
      "boards:\n  F100: [3a10]\n",
      "gpus.yaml");
  ASSERT_TRUE(added) << to_text(added.error());
  const Gpu gpu = table.of_id(0x3a10);
  EXPECT_EQ(gpu.name, "F100");
  EXPECT_EQ(gpu.architecture_name, "feynman");
  EXPECT_EQ(gpu.architecture, Architecture::newer);
  EXPECT_EQ(gpu.compute, "13.0");
  EXPECT_EQ(gpu.support.first_branch, 650U);
  EXPECT_TRUE(gpu.support.requires_open);
  EXPECT_EQ(table.find("feynman")->support, gpu.support);
  EXPECT_EQ(table.find("F100")->device, 0x3a10);
  EXPECT_EQ(table.of_id(0x1eb8).support.last_branch, 700U);
  EXPECT_EQ(table.of_id(0x1eb8).support.first_open_branch, 515U);
  EXPECT_EQ(table.of_id(0x2330).name, "H100-SXM");
}

TEST(GpuTable, IsTheSameAfterItsWayThroughFacts) {
  GpuTable table = GpuTable::built_in();
  ASSERT_TRUE(table.add("version: v1\nchips: {4000: {architecture: blackwell}}\n", "gpus.yaml"));
  const GpuTable again = GpuTable::renewed_by(Json::parse(table.renewals().dump()));
  EXPECT_EQ(again.of_id(0x4000).architecture, Architecture::blackwell);
  EXPECT_EQ(again.renewals(), table.renewals());
}

TEST(GpuTable, OfASiteCountsBeforeThatOfAPackage) {
  testing::FakeHost host;
  host.file(GpuTable::kFiles[0], "version: v1\nboards: {Old-name: [4000], Other: [4001]}\n");
  host.file(GpuTable::kFiles[1], "version: v1\nboards: {New-name: [4000]}\n");
  const auto table = GpuTable::of(host);
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_EQ(table->product_name(0x4000), "New-name");
  EXPECT_EQ(table->product_name(0x4001), "Other");
}

TEST(GpuTable, RefusesABrokenFileWithItsPlace) {
  const std::string unknown = error_of("chips:\n  3a00-3aff: {architecture: blackwel}\n");
  EXPECT_THAT(unknown, HasSubstr("unknown architecture 'blackwel'"));
  EXPECT_THAT(unknown, HasSubstr("/etc/slipway/gpus.yaml:3:29"));
  EXPECT_THAT(unknown, HasSubstr("blackwell"));
  EXPECT_THAT(error_of("chips:\n  3a0: {architecture: ada}\n"), HasSubstr("'3a0' is not a PCI device id"));
  EXPECT_THAT(error_of("chips:\n  3aff-3a00: {architecture: ada}\n"), HasSubstr("ends before it begins"));
  EXPECT_THAT(error_of("chips:\n  3a00: {}\n"), HasSubstr("has no architecture"));
  EXPECT_THAT(error_of("chips:\n  3a00: {architecture: ada, branch: 5}\n"), HasSubstr("unknown key 'branch'"));
  EXPECT_THAT(error_of("architectures:\n  ada: {first_branch: 5x}\n"), HasSubstr("'5x' is not a driver branch"));
  EXPECT_THAT(error_of("boards:\n  A b: [3a00]\n"), HasSubstr("is not a name"));
  EXPECT_THAT(error_of("boards:\n  A: []\n"), HasSubstr("has no id"));
  EXPECT_THAT(error_of("gpus: {}\n"), HasSubstr("unknown key 'gpus'"));
  GpuTable table = GpuTable::built_in();
  EXPECT_THAT(to_text(table.add("chips: {}\n", "f").error()), HasSubstr("version: v1"));
  EXPECT_THAT(to_text(table.add("version: v2\n", "f").error()), HasSubstr("version: v1 is the only one"));
}

}  // namespace
}  // namespace slipway::nvidia
