// SPDX-License-Identifier: Apache-2.0
// The kernels that apt or dnf would install next, by their lists.
#include "driver/coming/coming.hpp"

#include <gmock/gmock.h>

#include "driver/coming/apt_lists.hpp"
#include "tests/unit/plugins/driver/coming/coming_lists.hpp"
#include "tests/unit/plugins/driver/compressed.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using testing::compressed;
using testing::debian_headers;
using testing::debian_meta;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::installed;
using ::testing::IsEmpty;
using testing::kBackportsRelease;
using testing::kDebianKernel;
using testing::kDebianRelease;
using testing::primary_xml;
using testing::rpm_package;
using testing::TestHost;
using testing::TestPackage;

const std::string kSecurity = "/var/lib/apt/lists/deb.debian.org_debian-security_dists_bookworm-security_";
const std::string kBackports = "/var/lib/apt/lists/deb.debian.org_debian_dists_bookworm-backports_";

class ComingKernels : public ::testing::Test {
 protected:
  ComingKernels() {
    if (TEST_MACHINE != std::string("x86_64")) return;
    status(installed("linux-image-amd64", "6.1.176-1", "linux-image-6.1.0-50-amd64 (= 6.1.176-1)"));
    put(kSecurity + "InRelease", kDebianRelease);
    put(kSecurity + "main_binary-amd64_Packages.lz4",
        compressed(kDebianKernel + debian_meta("56", "6.1.192-2") + debian_headers("56", "6.1.192-2"), "lz4"));
  }
  void SetUp() override {
    if (TEST_MACHINE != std::string("x86_64")) GTEST_SKIP() << "the lists are for x86_64";
  }
  void put(const std::string& path, const std::string& text) const { host.root().file(path, text); }
  void status(const std::string& more) const {
    put("/var/lib/dpkg/status",
        installed("linux-image-6.1.0-50-amd64", "6.1.176-1", "kmod, linux-base (>= 4.3~)") + more);
  }
  Result<Coming> read() const { return read_coming(*host.offline(), {}); }
  std::vector<std::string> releases() const {
    std::vector<std::string> found;
    const auto coming = read();
    EXPECT_TRUE(coming) << to_text(coming.error());
    if (coming)
      for (const auto& kernel : coming->kernels) found.push_back(kernel.release);
    return found;
  }

  TestHost host;
};

TEST_F(ComingKernels, OfDebianAreThoseThatTheMetapackageDependsOn) {
  const auto coming = read();
  ASSERT_TRUE(coming) << to_text(coming.error());
  EXPECT_EQ(coming->manager, "apt");
  ASSERT_EQ(coming->kernels.size(), 1U);
  const ComingKernel& kernel = coming->kernels.front();
  EXPECT_EQ(kernel.release, "6.1.0-56-amd64");
  EXPECT_EQ(kernel.package, "linux-image-amd64");
  EXPECT_EQ(kernel.version, "6.1.192-2");
  EXPECT_EQ(kernel.list, kSecurity + "main_binary-amd64_Packages.lz4");
  EXPECT_FALSE(kernel.headers);
  EXPECT_GT(coming->time, 0);
}

TEST_F(ComingKernels, ComeWithTheirHeadersWhereTheMetapackageOfThoseIsInstalled) {
  status(installed("linux-image-amd64", "6.1.176-1", "linux-image-6.1.0-50-amd64 (= 6.1.176-1)") +
         installed("linux-headers-amd64", "6.1.176-1", "linux-headers-6.1.0-50-amd64 (= 6.1.176-1)"));
  EXPECT_TRUE(read()->kernels.front().headers);
}

TEST_F(ComingKernels, AreNoneWhereTheNewestIsInstalledOrNothingBringsKernels) {
  status(installed("linux-image-amd64", "6.1.192-2", "linux-image-6.1.0-56-amd64 (= 6.1.192-2)") +
         installed("linux-image-6.1.0-56-amd64", "6.1.192-2", "kmod"));
  EXPECT_THAT(releases(), IsEmpty());
  status("");
  const auto coming = read();
  ASSERT_TRUE(coming);
  EXPECT_THAT(coming->kernels, IsEmpty());
  EXPECT_THAT(coming->notes, ElementsAre(HasSubstr("no package that brings new kernels")));
}

TEST_F(ComingKernels, AreNoneWhileThePackageIsOnHold) {
  status(installed("linux-image-amd64", "6.1.176-1", "linux-image-6.1.0-50-amd64", "hold ok installed"));
  const auto coming = read();
  ASSERT_TRUE(coming);
  EXPECT_THAT(coming->kernels, IsEmpty());
  EXPECT_THAT(coming->notes, ElementsAre("linux-image-amd64 6.1.192-2 is in the lists, and the package is on hold"));
}

// Backports have a kernel of a newer branch, which an upgrade does not take.
TEST_F(ComingKernels, OfBackportsComeOnlyWhereOneIsInstalled) {
  put(kBackports + "InRelease", kBackportsRelease);
  const std::string newer =
      "Package: linux-image-amd64\nVersion: 6.12.43-1~bpo12+1\nArchitecture: amd64\n"
      "Depends: linux-image-6.12.43+deb12-amd64 (= 6.12.43-1~bpo12+1)\n\n";
  put(kBackports + "main_binary-amd64_Packages", newer);
  EXPECT_THAT(releases(), ElementsAre("6.1.0-56-amd64"));
  status(installed("linux-image-amd64", "6.12.38-1~bpo12+1", "linux-image-6.12.38+deb12-amd64"));
  EXPECT_THAT(releases(), ElementsAre("6.12.43+deb12-amd64"));
}

TEST_F(ComingKernels, FollowSimplePinsAndNameTheOthers) {
  put("/etc/apt/preferences.d/kernel", "Package: linux-image-*\nPin: version 6.1.192-*\nPin-Priority: -1\n");
  EXPECT_THAT(releases(), IsEmpty());
  put("/etc/apt/preferences.d/kernel",
      "# of the site\nPackage: *\nPin: release n=bookworm-security,l=Debian-Security\nPin-Priority: -10\n");
  EXPECT_THAT(releases(), IsEmpty());
  put("/etc/apt/preferences.d/kernel", "Package: *\nPin: origin \"other.example\"\nPin-Priority: -10\n");
  EXPECT_THAT(releases(), ElementsAre("6.1.0-56-amd64"));
  put("/etc/apt/preferences.d/kernel", "Package: /^linux/\nPin: release n=bookworm\nPin-Priority: -10\n");
  const auto coming = read();
  ASSERT_TRUE(coming);
  EXPECT_THAT(coming->notes, ElementsAre("a pin in /etc/apt/preferences.d/kernel is not followed: /^linux/"));
}

TEST_F(ComingKernels, OfUbuntuAreFoundThroughTheirMetapackages) {
  put("/var/lib/apt/lists/archive.ubuntu.com_ubuntu_dists_noble-updates_main_binary-amd64_Packages",
      "Package: linux-image-virtual\nArchitecture: amd64\nVersion: 6.8.0-88.89\nDepends: linux-image-generic\n\n"
      "Package: linux-image-generic\nArchitecture: amd64\nVersion: 6.8.0-88.89\nSource: linux-meta\n"
      "Provides: wireguard-modules (= 1.0.0)\nDepends: linux-image-6.8.0-88-generic, "
      "linux-modules-extra-6.8.0-88-generic, linux-firmware, intel-microcode, amd64-microcode\n\n"
      "Package: linux-image-generic\nArchitecture: i386\nVersion: 6.8.0-99.1\nDepends: "
      "linux-image-6.8.0-99-generic\n\n");
  status(installed("linux-image-virtual", "6.8.0-50.51", "linux-image-generic"));
  EXPECT_THAT(releases(), ElementsAre("6.8.0-88-generic"));
}

// Before the fix, these lists kept slipway busy for hours.
TEST_F(ComingKernels, AreFoundWhereMetapackagesNameEachOtherAThousandTimes) {
  std::string one = "linux-image-6.8.0-88-generic";
  std::string other;
  for (int i = 0; i < 1000; ++i) {
    one += ", linux-image-other";
    other += (i == 0 ? "" : ", ") + std::string("linux-image-generic");
  }
  put("/var/lib/apt/lists/archive.ubuntu.com_ubuntu_dists_noble-updates_main_binary-amd64_Packages",
      "Package: linux-image-generic\nArchitecture: amd64\nVersion: 6.8.0-88.89\nDepends: " + one +
          "\n\nPackage: linux-image-other\nArchitecture: amd64\nVersion: 6.8.0-88.89\nDepends: " + other + "\n\n");
  status(installed("linux-image-generic", "6.8.0-50.51", "linux-image-6.8.0-50-generic"));
  EXPECT_THAT(releases(), ElementsAre("6.8.0-88-generic"));
}

TEST_F(ComingKernels, OfEnterpriseLinuxAreTheNewestOfTheEnabledRepositories) {
  std::filesystem::remove_all(host.root().path() / "var/lib/dpkg");
  std::filesystem::remove_all(host.root().path() / "usr/lib/modules" / testing::kKernel);
  put("/usr/lib/modules/5.14.0-503.11.1.el9_5.x86_64/modules.builtin", "");
  const std::string folder = "/var/cache/dnf/baseos-0123456789abcdef/repodata/";
  put(folder + "0a1b-primary.xml.gz",
      compressed(
          primary_xml(rpm_package("bash", "5.1.8", "9.el9") + rpm_package("kernel-core", "5.14.0", "503.11.1.el9_5") +
                      rpm_package("kernel-core", "5.14.0", "570.12.1.el9_6") +
                      rpm_package("kernel-core", "5.14.0", "570.12.1.el9_6", "aarch64") +
                      rpm_package("kernel-devel", "5.14.0", "570.12.1.el9_6") +
                      rpm_package("kernel", "5.14.0", "570.12.1.el9_6")),
          "gzip"));
  put(folder + "0a1b-filelists.xml.gz", "not read");
  const auto coming = read();
  ASSERT_TRUE(coming) << to_text(coming.error());
  EXPECT_EQ(coming->manager, "dnf");
  ASSERT_EQ(coming->kernels.size(), 1U);
  EXPECT_EQ(coming->kernels.front().release, "5.14.0-570.12.1.el9_6.x86_64");
  EXPECT_EQ(coming->kernels.front().package, "kernel-core");
  EXPECT_FALSE(coming->kernels.front().headers);
  put("/usr/src/kernels/5.14.0-503.11.1.el9_5.x86_64/Makefile", "");
  EXPECT_TRUE(read()->kernels.front().headers);
  put("/var/cache/libdnf5/testing-00ff/repodata/1-primary.xml.zst",
      compressed(primary_xml(rpm_package("kernel-core", "6.12.0", "1.el9")), "zstd"));
  EXPECT_THAT(releases(), ElementsAre("6.12.0-1.el9.x86_64"));
  put("/etc/yum.repos.d/testing.repo", "[testing]\nname=testing\nenabled=0\n");
  EXPECT_THAT(releases(), ElementsAre("5.14.0-570.12.1.el9_6.x86_64"));
  put("/etc/dnf/dnf.conf", "[main]\nexclude=kernel*\n");
  EXPECT_THAT(releases(), IsEmpty());
}

TEST_F(ComingKernels, OfARootWithoutListsAreAnError) {
  std::filesystem::remove_all(host.root().path() / "var/lib/apt");
  EXPECT_THAT(to_text(read().error()), HasSubstr("no package lists of apt or dnf"));
}

TEST_F(ComingKernels, OfABrokenListAreAnErrorWithItsFile) {
  const std::string good = compressed(std::string(200'000, 'x'), "xz");
  put(kBackports + "main_binary-amd64_Packages.xz", good.substr(0, good.size() / 2));
  EXPECT_THAT(to_text(read().error()), HasSubstr("bookworm-backports_main_binary-amd64_Packages.xz"));
}

TEST_F(ComingKernels, GetWhatTheSourceHasInTheInstalledVersion) {
  auto coming = read();
  ASSERT_TRUE(coming);
  Receipt receipt{.version = "535.261.03", .flavour = "open", .kernel_release = "6.1.0-50-amd64"};
  Settings settings;
  const std::vector<TestPackage> packages{{.kernel = "6.1.0-50-amd64"}, {.kernel = "6.1.0-56-amd64"}};
  add_offers(settings, receipt, testing::catalogue(packages, true), *host.offline(), *coming);
  EXPECT_EQ(coming->kernels.front().modules, "package");
  EXPECT_EQ(coming->kernels.front().driver, "535.261.03 open");
  EXPECT_FALSE(coming->has_one_without_modules());
  receipt.version = "550.163.01";
  add_offers(settings, receipt, testing::catalogue(packages, true), *host.offline(), *coming);
  EXPECT_TRUE(coming->has_one_without_modules());
}

TEST_F(ComingKernels, AreToldWithTheAgeOfTheLists) {
  auto coming = read();
  ASSERT_TRUE(coming);
  coming->time = 1'795'000'000;
  EXPECT_THAT(to_text(*coming, 1'795'000'100), HasSubstr("by its lists of 2026-11-18 "));
  EXPECT_THAT(to_text(*coming, 1'795'000'100), ::testing::Not(HasSubstr("older than a week")));
  EXPECT_THAT(to_text(*coming, 1'796'000'000), HasSubstr("older than a week: get new ones with `apt-get update`"));
}

}  // namespace
}  // namespace slipway::driver
