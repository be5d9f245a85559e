// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/existing_driver.hpp"

#include <random>

#include <gmock/gmock.h>

#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestHost;

constexpr std::string_view kStatus =
    "Package: libcuda1\nStatus: install ok installed\nVersion: 535.309.01-0+deb12u1\n\n"
    "Package: nvidia-open-kernel-dkms\nStatus: install ok installed\nVersion: 535.261.03-1\n\n"
    "Package: nvidia-smi\nStatus: deinstall ok config-files\nVersion: 470.1.1-1\n\n"
    "Package: nvidia-container-toolkit\nStatus: install ok installed\nVersion: 1.17.8-1\n\n"
    "Package: bash\nStatus: install ok installed\nVersion: 5.2.15-2+b8\n";

std::string shown(const std::vector<ExistingDriver>& traces) {
  std::string text;
  for (const auto& trace : traces)
    text += trace.how + ": " + trace.what + " | " + trace.version + " | " + trace.flavour + " | " + trace.remove + "\n";
  return text;
}

// Debian 12 with security updates: libraries rise to 535.309.01, the open modules stay at 535.261.03.
TEST(ExistingDriver, OfPackagesIsFoundWithEachVersionOfAMix) {
  EXPECT_EQ(shown(driver_packages_in(kStatus)),
            "packages: nvidia-open-kernel-dkms (dpkg) | 535.261.03 | open | `apt-get purge libcuda1 "
            "nvidia-open-kernel-dkms`\n"
            "packages: libcuda1 (dpkg) | 535.309.01 | open | `apt-get purge libcuda1 nvidia-open-kernel-dkms`\n");
}

TEST(ExistingDriver, IsNotSeenInPackagesThatOnlyUseADriver) {
  for (const auto* name : {"nvidia-container-toolkit", "libnvidia-container1", "nvidia-settings", "nvidia-modprobe",
                           "nvidia-driver-assistant", "firmware-nvidia-gsp", "nvidia-cuda-toolkit", "nvidia-fs-dkms"})
    EXPECT_FALSE(is_driver_package(name)) << name;
  for (const auto* name :
       {"nvidia-driver-580-server-open", "libnvidia-compute-535", "nvidia-dkms-550",
        "linux-modules-nvidia-580-open-6.8.0-90-generic", "nvidia-tesla-535-driver", "libnvidia-ml1"})
    EXPECT_TRUE(is_driver_package(name)) << name;
}

TEST(ExistingDriver, OfADamagedDpkgStatusNeverCrashes) {
  std::mt19937 random{2};
  for (int round = 0; round < 3000; ++round) {
    std::string text{kStatus};
    for (auto edits = random() % 8; edits > 0; --edits) {
      const auto at = random() % (text.size() + 1);
      if (random() % 2 != 0)
        text.insert(at, 1, "\n: Package"[random() % 10]);
      else
        text.erase(at, random() % 40);
    }
    for (const auto& trace : driver_packages_in(text)) EXPECT_FALSE(trace.remove.empty());
  }
}

TEST(ExistingDriver, IsFoundInModulesDepByDebiansNames) {
  EXPECT_THAT(driver_modules_in("updates/dkms/nvidia-current-open.ko: kernel/a.ko\nupdates/slipway/nvidia.ko.xz:\n"
                                "kernel/drivers/video/fbdev/nvidia/nvidiafb.ko:\n"
                                "kernel/drivers/platform/x86/nvidia-wmi-ec-backlight.ko:\nextra/nvidia.ko.xz:\n"),
              ElementsAre("extra/nvidia.ko.xz", "updates/dkms/nvidia-current-open.ko"));
}

TEST(ExistingDriver, IsMissingOnABareHost) {
  EXPECT_THAT(find_existing_drivers(*TestHost().offline(), {"x"}), IsEmpty());
}

TEST(ExistingDriver, OfTheInstallerAndOfDkmsIsFoundWithTheWayToRemoveIt) {
  TestHost host;
  host.root().file("/var/lib/nvidia/log", "550.54.14\nNVIDIA Accelerated Graphics Driver\n");
  host.root().directory("/var/lib/dkms/nvidia-current-open/535.261.03");
  host.root().directory("/var/lib/dkms/nvidia-fs/2.13");
  EXPECT_EQ(shown(find_existing_drivers(*host.offline(), {testing::kKernel})),
            "DKMS: /var/lib/dkms/nvidia-current-open/535.261.03 | 535.261.03 | open | `dkms remove "
            "nvidia-current-open/535.261.03 --all`\n"
            "installer: NVIDIA's installer (.run) | 550.54.14 |  | `/usr/bin/nvidia-uninstall`\n");
}

TEST(ExistingDriver, IsFoundInLibrariesButNotInLinksIntoTheStore) {
  TestHost ours;
  ours.root().file("/usr/lib/slipway/store/driver/a/userspace/usr/lib/x86_64-linux-gnu/libcuda.so.535.261.03", "");
  ours.root().link("/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                   "../slipway/store/driver/a/userspace/usr/lib/x86_64-linux-gnu/libcuda.so.535.261.03");
  EXPECT_THAT(find_existing_drivers(*ours.offline(), {testing::kKernel}), IsEmpty());
  TestHost theirs;
  theirs.root().file("/usr/lib64/libnvidia-ml.so.580.82.07", "");
  const auto traces = find_existing_drivers(*theirs.offline(), {testing::kKernel});
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0].version, "580.82.07");
  EXPECT_EQ(traces[0].what, "/usr/lib64/libnvidia-ml.so.580.82.07");
}

TEST(ExistingDriver, SurvivesTheTripThroughFacts) {
  const auto traces = driver_packages_in(kStatus);
  EXPECT_EQ(shown(Json(traces).get<std::vector<ExistingDriver>>()), shown(traces));
}

}  // namespace
}  // namespace slipway::driver
