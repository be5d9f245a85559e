// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "driver/plan/plan.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::HasSubstr;
using testing::summary;
using testing::TestHost;

constexpr const char* kDebianDriver =
    "Package: libcuda1\nStatus: install ok installed\nVersion: 535.261.03-1\n\n"
    "Package: nvidia-open-kernel-dkms\nStatus: install ok installed\nVersion: 535.261.03-1\n";

class ExistingPlanTest : public ::testing::Test {
 protected:
  ExistingPlanTest() {
    settings.version = *VersionConstraint::parse("535.261.03");
    settings.load = {"nvidia", "nvidia-uvm"};
    host.gpu("0000:1b:00.0", 0x2330);
    host.root().file("/var/lib/dpkg/status", kDebianDriver);
  }
  Result<Plan> plan() const { return make_plan(settings, read_host_facts(*host.live()), testing::inputs({{}})); }
  Settings settings;
  TestHost host;
};

TEST_F(ExistingPlanTest, RefusesAnotherDriverAndExplainsHowToRemoveIt) {
  EXPECT_EQ(to_text(plan().error()),
            "error: an NVIDIA driver that slipway did not install is in the way\n"
            "  at:    libcuda1, nvidia-open-kernel-dkms (dpkg)\n"
            "  found: packages: libcuda1, nvidia-open-kernel-dkms (dpkg), version 535.261.03; remove it: "
            "`apt-get purge libcuda1 nvidia-open-kernel-dkms`\n"
            "  do:    remove it: `apt-get purge libcuda1 nvidia-open-kernel-dkms`; or use that driver as it is: "
            "existing: keep\n");
}

TEST_F(ExistingPlanTest, KeepsADriverOfTheVersionRequestedAndInstallsNothing) {
  settings.keep_existing = true;
  const auto kept = plan();
  ASSERT_TRUE(kept) << to_text(kept.error());
  EXPECT_EQ(summary(*kept),
            "kernel-module nvidia\nkernel-module nvidia-uvm\ndevice-node /dev/nvidiactl 195:255 666\n"
            "device-node /dev/nvidia-uvm nvidia-uvm:0 666\ndevice-node /dev/nvidia-uvm-tools nvidia-uvm:1 666\n"
            "device-node /dev/nvidia0 195:0 666\n");
  EXPECT_EQ(kept->outputs()["version"], "535.261.03");
  EXPECT_EQ(kept->outputs()["flavour"], "open");
}

TEST_F(ExistingPlanTest, DoesNotKeepADriverOfAnotherVersion) {
  settings.keep_existing = true;
  settings.version = *VersionConstraint::parse("580.82.07");
  EXPECT_EQ(plan().error().what, "the spec keeps the existing NVIDIA driver, but it is 535.261.03, not 580.82.07");
  EXPECT_THAT(plan().error().next, HasSubstr("write version: \"535.261.03\", or remove it: `apt-get purge"));
}

// "remove it: `remove the package that owns … (`dpkg -S` …)`"
TEST_F(ExistingPlanTest, ExplainsHowToRemoveAManualInstallation) {
  host.root().file("/var/lib/dpkg/status", "");
  host.root().file("/usr/lib64/libcuda.so.580.82.07", "");
  const std::string path = "/usr/lib64/libcuda.so.580.82.07";
  EXPECT_EQ(plan().error().next, "remove the package that owns " + path + " (`dpkg -S " + path + "` or `rpm -qf " +
                                     path + "` names it), or " + path + " alone where none does");
}

TEST_F(ExistingPlanTest, DoesNotKeepAMix) {
  settings.keep_existing = true;
  host.root().file("/usr/lib64/libnvidia-ml.so.580.82.07", "");
  EXPECT_THAT(plan().error().what, HasSubstr("but it is a mix of 535.261.03 and 580.82.07"));
}

}  // namespace
}  // namespace slipway::driver
