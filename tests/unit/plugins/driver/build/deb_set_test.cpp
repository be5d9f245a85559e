// SPDX-License-Identifier: Apache-2.0
#include "driver/build/deb_set.hpp"

#include <gmock/gmock.h>

#include "tests/unit/plugins/driver/test_deb.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DebSetTest : public ::testing::Test {
 protected:
  void have(const std::vector<testing::TestDeb>& debs) {
    for (const auto& deb : debs) deb.write(folder.string());
  }
  std::vector<DebInfo> all() const {
    auto debs = list_debs(folder.string());
    EXPECT_TRUE(debs) << to_text(debs.error());
    return debs ? *debs : std::vector<DebInfo>{};
  }
  TempDir folder;
};

TEST_F(DebSetTest, PicksTheDriversPackagesOutOfAFolder) {
  have(testing::driver_debs());
  have({{.package = "bash", .version = "5.2-1"}});
  const auto driver = choose_driver_debs(all(), nvidia::Flavour::open);
  ASSERT_TRUE(driver) << to_text(driver.error());
  EXPECT_EQ(driver->version, "535.261.03");
  EXPECT_EQ(driver->userspace.size(), 4U);
  EXPECT_EQ(driver->firmware.size(), 1U);
  EXPECT_EQ(driver->source.front().package, "nvidia-open-kernel-dkms");
}

// Debian 12 with security updates offers exactly this mix.
TEST_F(DebSetTest, RefusesPackagesOfSeveralVersions) {
  have(testing::driver_debs());
  std::filesystem::remove(folder.at("/libcuda1_535.261.03-1_amd64.deb"));
  have({{.package = "libcuda1", .version = "535.309.01-0+deb12u1"}});
  const auto error = choose_driver_debs(all(), nvidia::Flavour::open).error();
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.what, "the driver's packages are of several versions: 535.261.03, 535.309.01");
  EXPECT_EQ(error.where, folder.string());
  EXPECT_THAT(to_text(error), HasSubstr("found: libcuda1 535.309.01-0+deb12u1"));
}

TEST_F(DebSetTest, RefusesPackagesForSeveralProcessors) {
  have(testing::driver_debs());
  have({{.package = "libcuda1", .architecture = "arm64"}});
  const auto error = choose_driver_debs(all(), nvidia::Flavour::open).error();
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.what, "the driver's packages are for several processors: amd64, arm64");
  EXPECT_THAT(to_text(error), HasSubstr("found: libcuda1 arm64"));
}

TEST_F(DebSetTest, NamesThePackageThatIsMissing) {
  have({{.package = "bash"}});
  EXPECT_EQ(to_text(choose_driver_debs(all(), nvidia::Flavour::open).error()),
            "error: the package nvidia-open-kernel-dkms is missing among the .deb files\n  at:    " + folder.string() +
                "\n  do:    put that package there: `apt-get download nvidia-open-kernel-dkms`\n");
  have(testing::driver_debs());
  EXPECT_THAT(choose_driver_debs(all(), nvidia::Flavour::proprietary).error().what, HasSubstr("nvidia-kernel-dkms"));
  std::filesystem::remove(folder.at("/firmware-nvidia-gsp_535.261.03-1_amd64.deb"));
  EXPECT_THAT(choose_driver_debs(all(), nvidia::Flavour::open).error().what, HasSubstr("firmware-nvidia-gsp"));
}

TEST_F(DebSetTest, SaysWhenThereIsNoPackageAtAll) {
  EXPECT_EQ(list_debs(folder.string()).error().what, "there is no .deb file in the folder");
  EXPECT_EQ(list_debs(folder.string() + "/none").error().code, ErrorCode::not_found);
}

TEST_F(DebSetTest, PicksHeadersWithKbuildAndCompilerOfTheSameVersion) {
  have(testing::header_debs("6.1.0-50-amd64", "6.1.176-1"));
  have(testing::header_debs("6.1.0-56-amd64", "6.1.192-2"));
  const auto debs = choose_header_debs(all(), "6.1.0-50-amd64");
  ASSERT_TRUE(debs) << to_text(debs.error());
  std::vector<std::string> names;
  for (const auto& deb : *debs) names.push_back(deb.package + " " + deb.version);
  EXPECT_THAT(names, ElementsAre("linux-headers-6.1.0-50-amd64 6.1.176-1", "linux-headers-6.1.0-50-common 6.1.176-1",
                                 "linux-kbuild-6.1 6.1.176-1", "linux-compiler-gcc-12-x86 6.1.176-1"));
}

TEST_F(DebSetTest, PicksTheHeadersToolsForTheSameProcessor) {
  have(testing::header_debs("6.1.0-50-amd64", "6.1.176-1"));
  have({{.package = "linux-kbuild-6.1", .version = "6.1.176-1", .architecture = "arm64"}});
  const auto debs = choose_header_debs(all(), "6.1.0-50-amd64");
  ASSERT_TRUE(debs) << to_text(debs.error());
  for (const auto& deb : *debs) EXPECT_EQ(deb.architecture, "amd64") << deb.package;
  std::filesystem::remove(folder.at("/linux-kbuild-6.1_6.1.176-1_amd64.deb"));
  EXPECT_THAT(choose_header_debs(all(), "6.1.0-50-amd64").error().what, HasSubstr("linux-kbuild-6.1 is missing"));
}

// The headers of one update and the common ones of another give modules that refuse to load.
TEST_F(DebSetTest, RefusesCommonHeadersOfAnotherVersion) {
  have(testing::header_debs("6.1.0-50-amd64", "6.1.176-1"));
  std::filesystem::remove(folder.at("/linux-headers-6.1.0-50-common_6.1.176-1_amd64.deb"));
  have({{.package = "linux-headers-6.1.0-50-common", .version = "6.1.170-3"}});
  const auto error = choose_header_debs(all(), "6.1.0-50-amd64").error();
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.what,
            "linux-headers-6.1.0-50-amd64 6.1.176-1 needs linux-headers-6.1.0-50-common 6.1.176-1, but the folder "
            "has linux-headers-6.1.0-50-common 6.1.170-3");
  EXPECT_EQ(error.next, "put that version there: `apt-get download linux-headers-6.1.0-50-common=6.1.176-1`");
}

TEST_F(DebSetTest, ListsTheAvailableHeadersWhenTheWantedOnesAreMissing) {
  have(testing::header_debs("6.1.0-50-amd64", "6.1.176-1"));
  EXPECT_EQ(
      to_text(choose_header_debs(all(), "6.1.0-53-amd64").error()),
      "error: the package linux-headers-6.1.0-53-amd64 is missing among the .deb files\n  at:    " + folder.string() +
          "\n  found: headers of 6.1.0-50-amd64\n  do:    put that package there: `apt-get download "
          "linux-headers-6.1.0-53-amd64`, or name a tree of headers: --headers DIR\n");
  std::filesystem::remove(folder.at("/linux-kbuild-6.1_6.1.176-1_amd64.deb"));
  EXPECT_THAT(choose_header_debs(all(), "6.1.0-50-amd64").error().what, HasSubstr("linux-kbuild-6.1 is missing"));
}

}  // namespace
}  // namespace slipway::driver
