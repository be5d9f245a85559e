// SPDX-License-Identifier: Apache-2.0
#include "driver/build/supported_gpus_files.hpp"

#include <gmock/gmock.h>

namespace slipway::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kReadmeText =
    "## Compatible GPUs\n\n"
    "| Product Name                                    | PCI ID         |\n"
    "| ----------------------------------------------- | -------------- |\n"
    "| Tesla T4                                        | 1EB8           |\n"
    "| NVIDIA GeForce RTX 2070 with Max-Q Design       | 1F50 1028 08ED |\n"
    "| NVIDIA GeForce RTX 2070 with Max-Q Design       | 1F50 1028 08EE |\n"
    "| A row of another table                          | ABCDEF         |\n";

TEST(SupportedGpusFiles, TheReadmeOfTheOpenModulesListsWhatTheySupport) {
  const auto list = gpus_of_readme(kReadmeText);
  EXPECT_THAT(list.open.supports, ElementsAre(0x1eb8, 0x1f50));
  EXPECT_THAT(list.open.lacks, IsEmpty());
  EXPECT_TRUE(gpus_of_readme("").empty());
}

// T4 and A100-PCIe are not in the README of 535.261.03, and the open modules support them.
TEST(SupportedGpusFiles, DebiansIdsNameWhatTheReadmeDoesNot) {
  const auto list = gpus_of_ids("10DE1EB8\n10DE20B1\nsomething else\n10DE1\n");
  EXPECT_THAT(list.open.supports, ElementsAre(0x1eb8, 0x20b1));
  EXPECT_THAT(list.open.lacks, IsEmpty());
}

TEST(SupportedGpusFiles, NvidiasListSaysWhichModulesEachChipTakes) {
  const auto list = gpus_of_nvidia_json(
      R"({"chips": [{"devid": "0x1DB5", "name": "V100", "features": ["runtimepm"]},
                    {"devid": "0x1EB8", "name": "T4", "features": ["kernelopen", "gsp_proprietary_supported"]},
                    {"devid": "0x2901", "name": "B200", "features": ["kernelopen"]},
                    {"devid": "0x0FF3", "name": "K340", "features": [], "legacybranch": "470.xx"}]})",
      "supported-gpus.json");
  ASSERT_TRUE(list) << to_text(list.error());
  EXPECT_THAT(list->open.supports, ElementsAre(0x1eb8, 0x2901));
  EXPECT_THAT(list->open.lacks, ElementsAre(0x1db5));
  EXPECT_THAT(list->proprietary.supports, ElementsAre(0x1db5, 0x1eb8));
  EXPECT_THAT(list->proprietary.lacks, ElementsAre(0x2901));
  EXPECT_EQ(list->last_branch.at(0x0ff3), 470U);
}

// Until 550 or so the list had no word for chips that the proprietary modules support too.
TEST(SupportedGpusFiles, AnOlderListOfNvidiaDoesNotSayWhichChipsRequireTheOpenModules) {
  const auto list = gpus_of_nvidia_json(R"({"chips": [{"devid": "0x2330", "features": ["kernelopen"]}]})", "f");
  ASSERT_TRUE(list);
  EXPECT_THAT(list->open.supports, ElementsAre(0x2330));
  EXPECT_THAT(list->proprietary.lacks, IsEmpty());
}

TEST(SupportedGpusFiles, ABrokenListIsAnErrorThatNamesFileAndChip) {
  EXPECT_THAT(to_text(gpus_of_nvidia_json("{", "gpus.json").error()), HasSubstr("gpus.json"));
  EXPECT_THAT(to_text(gpus_of_nvidia_json(R"({"chips": []})", "f").error()), HasSubstr("no list of chips"));
  EXPECT_THAT(to_text(gpus_of_nvidia_json(R"({"chips": [{"devid": "0x1EB8"}, {"devid": "1EB8"}]})", "f").error()),
              HasSubstr("chip 2 of the list has no devid like 0x2330"));
  EXPECT_THAT(to_text(gpus_of_nvidia_json(R"({"chips": [{"devid": "0x1EB8", "legacybranch": "old"}]})", "f").error()),
              HasSubstr("chip 1 of the list has a legacybranch unlike 470.xx"));
}

}  // namespace
}  // namespace slipway::driver
