// SPDX-License-Identifier: Apache-2.0
#include "nvidia/flavour.hpp"

#include <gtest/gtest.h>

#include "nvidia/gpus/gpu_table.hpp"

namespace slipway::nvidia {
namespace {

std::vector<Gpu> gpus(const std::vector<std::string>& names) {
  std::vector<Gpu> list;
  for (const auto& name : names) list.push_back(gpu_from_text(name).value());
  return list;
}

std::string allowed(const std::vector<std::string>& names, unsigned branch) {
  std::string text;
  for (const auto flavour : choose_flavour(gpus(names), branch).allowed) text += std::string(to_string(flavour)) + " ";
  return text;
}

TEST(Flavour, FollowsTheArchitectureAndTheBranch) {
  EXPECT_EQ(allowed({"H100"}, 535), "open proprietary ");
  EXPECT_EQ(allowed({"T4", "A100"}, 595), "open proprietary ");
  EXPECT_EQ(allowed({"T4"}, 470), "proprietary ");
  EXPECT_EQ(allowed({"V100-SXM2-32GB"}, 580), "proprietary ");
  EXPECT_EQ(allowed({"P40"}, 535), "proprietary ");
  EXPECT_EQ(allowed({"B200"}, 580), "open ");
  EXPECT_EQ(allowed({"GH200"}, 550), "open ");
  EXPECT_EQ(allowed({"rubin"}, 610), "open ");
}

TEST(Flavour, IsProprietaryForAMixWithAGpuThatTheOpenModulesDoNotSupport) {
  EXPECT_EQ(allowed({"H100", "V100-PCIe-16GB"}, 535), "proprietary ");
}

TEST(Flavour, IsOpenWhenAGpuRequiresItAndNamesUnusedGpus) {
  const auto choice = choose_flavour(gpus({"V100-PCIe-16GB", "B200"}), 580);
  EXPECT_EQ(choice.allowed, std::vector<Flavour>{Flavour::open});
  EXPECT_EQ(choice.reason, "B200 (blackwell) requires the open modules");
  ASSERT_EQ(choice.warnings.size(), 1U);
  EXPECT_EQ(choice.warnings[0], "V100-PCIe-16GB (volta): the open modules do not support it, it stays unused");
}

TEST(Flavour, IsUndecidedForUnsupportedGpus) {
  const auto too_new = choose_flavour(gpus({"V100-PCIe-16GB"}), 590);
  EXPECT_TRUE(too_new.allowed.empty());
  EXPECT_EQ(too_new.reason, "driver branch 590 supports none of these GPUs");
  EXPECT_EQ(too_new.warnings[0], "V100-PCIe-16GB (volta): driver branch 580 is the last that supports it");
  EXPECT_EQ(choose_flavour(gpus({"B200"}), 535).warnings[0], "B200 (blackwell): supported from driver branch 570 on");
}

TEST(Flavour, IgnoresGpusThatTheBranchDropped) {
  const auto choice = choose_flavour(gpus({"P40", "L4"}), 595);
  EXPECT_EQ(choice.allowed.front(), Flavour::open);
  EXPECT_EQ(choice.warnings.size(), 1U);
}

TEST(Flavour, OfAnUnlistedGpuAllowsBoth) {
  const auto choice = choose_flavour({gpu_from_pci({.address = "0000:01:00.0", .device = 0x1900})}, 535);
  EXPECT_EQ(choice.allowed.size(), 2U);
  EXPECT_EQ(choice.warnings[0],
            "GPU 10de:1900 (unknown) at 0000:01:00.0: not in slipway's table of GPUs, so it is not considered");
}

// For all GPUs and branches: an answer without flavours has reasons, and one that allows proprietary has no GPU that
// requires open.
TEST(Flavour, NeverAllowsProprietaryModulesForAGpuThatRequiresOpen) {
  const auto names = known_gpu_names();
  for (unsigned branch : {390U, 470U, 510U, 515U, 535U, 560U, 570U, 580U, 590U, 610U})
    for (const auto& first : names)
      for (const auto& second : {"T4", "P40", "B200", "GH200"}) {
        const auto list = gpus({first, second});
        const auto choice = choose_flavour(list, branch);
        EXPECT_FALSE(choice.reason.empty());
        EXPECT_TRUE(!choice.allowed.empty() || choice.warnings.size() == list.size()) << first << branch;
        if (std::ranges::count(choice.allowed, Flavour::proprietary) == 0) continue;
        for (const auto& gpu : list)
          EXPECT_TRUE(!gpu.support.requires_open || branch < support_of(gpu.architecture).first_open_branch)
              << gpu.name << branch;
      }
}

}  // namespace
}  // namespace slipway::nvidia
