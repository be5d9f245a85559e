// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/kernel_release.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "base/kernels/kernels.hpp"

namespace slipway::driver {
namespace {

using ::testing::ElementsAre;

TEST(KernelRelease, NearestComesFirstAndItsOwnFlavourBeforeOthers) {
  EXPECT_THAT(nearest_first({"6.1.0-47-amd64", "6.12.107+deb12-amd64", "6.1.0-55-cloud-amd64", "6.1.0-54-amd64",
                             "6.1.0-57-amd64", "5.10.0-30-amd64"},
                            "6.1.0-56-amd64"),
              ElementsAre("6.1.0-57-amd64", "6.1.0-54-amd64", "6.1.0-47-amd64", "5.10.0-30-amd64",
                          "6.1.0-55-cloud-amd64", "6.12.107+deb12-amd64"));
}

TEST(KernelRelease, NearestFirstKeepsEveryRelease) {
  std::mt19937 random{3};
  const std::string alphabet = "0123456789.-+_amdel";
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> releases;
    for (int i = 0; i < 8; ++i) {
      std::string text;
      for (auto length = random() % 20; length > 0; --length) text += alphabet[random() % alphabet.size()];
      releases.push_back(text);
    }
    auto sorted = nearest_first(releases, releases[0]);
    EXPECT_EQ(base::kernel_key(sorted.front()) == base::kernel_key(releases[0]) || sorted.front() != releases[0], true);
    EXPECT_TRUE(std::ranges::is_permutation(sorted, releases));
    EXPECT_EQ(sorted, nearest_first(sorted, releases[0]));
  }
}

TEST(Tag, HoldsThePlusOfBackportKernelsAsUnderscore) {
  EXPECT_EQ(package_tag("535.261.03", "6.12.107+deb12-amd64", "debian12", "open"),
            "535.261.03-6.12.107_deb12-amd64-debian12-open");
  EXPECT_EQ(package_tag("535.261.03", "6.1.0-50-amd64", "debian12", "open"), "535.261.03-6.1.0-50-amd64-debian12-open");
  EXPECT_EQ(package_tag("535.261.03", "", "debian12", ""), "535.261.03-debian12");
}

// distribution-spec: [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}
TEST(Tag, OfAnyKernelIsAValidTag) {
  std::mt19937 random{5};
  for (int round = 0; round < 2000; ++round) {
    std::string release;
    for (auto length = random() % 200; length > 0; --length) release += static_cast<char>(random() % 255 + 1);
    const auto tag = package_tag("535.261.03", release, "debian12", "open");
    EXPECT_LE(tag.size(), 128U);
    EXPECT_EQ(tag.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace slipway::driver
