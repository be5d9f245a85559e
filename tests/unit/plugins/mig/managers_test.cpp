// SPDX-License-Identifier: Apache-2.0
// GPUs that belong to a DRA driver or to virtual machines: no config partitions them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "mig/device/read.hpp"
#include "mig/layout/intent.hpp"
#include "products.hpp"

namespace slipway::mig {
namespace {

using namespace testing;
using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Gpu at(const std::string& address, unsigned index) {
  Gpu gpu = h100();
  gpu.index = index;
  gpu.address = address;
  gpu.uuid = "GPU-" + std::to_string(index);
  return gpu;
}

class MigManagers : public ::testing::Test {
 protected:
  std::vector<std::string> named(const Json& by_spec = {}) {
    const Status named = name_managers(host_, by_spec, gpus_);
    EXPECT_TRUE(named.ok());
    std::vector<std::string> managers;
    for (const Gpu& gpu : gpus_) managers.push_back(gpu.manager);
    return managers;
  }
  FakeHost host_;
  std::vector<Gpu> gpus_{at("0000:18:00.0", 0), at("0000:2a:00.0", 1), at("0000:3a:00.0", 2)};
};

// Before the fix, GPUs for virtual machines were partitioned when their address had NVML's eight digits.
TEST_F(MigManagers, AreNamedByAnAddressInAnyForm) {
  for (const char* form : {"0000:2A:00.0", "00000000:2A:00.0", "2a:00.0", "0000:2a:00"})
    EXPECT_THAT(named({{form, "vfio"}}), ElementsAre("", "vfio", "")) << form;
}

TEST_F(MigManagers, AreThoseOfTheFileAndOfTheSpecBeforeIt) {
  EXPECT_THAT(named(), ElementsAre("", "", ""));
  host_.file("/etc/slipway/gpu-managers.json",
             R"({"kind": "GpuManagers", "default": "deviceplugin", "gpus": {"0000:18:00.0": "dra", "GPU-1": "none"}})");
  EXPECT_THAT(named(), ElementsAre("dra", "", "")) << "nobody hands out the second one, which may be laid out";
  EXPECT_THAT(named({{"0000:18:00.0", "deviceplugin"}, {"GPU-2", "vfio"}}), ElementsAre("", "", "vfio"));
  host_.file("/etc/slipway/gpu-managers.json", R"({"kind": "GpuManagers", "default": "dra"})");
  EXPECT_THAT(named(), ElementsAre("dra", "dra", "dra"));
  host_.file("/etc/slipway/gpu-managers.json", "noise");
  EXPECT_EQ(name_managers(host_, {}, gpus_).error().code, ErrorCode::corrupt) << "then no GPU may be changed";
}

TEST_F(MigManagers, AreNamedForGpusThatExist) {
  for (const char* nothing : {"0000:19:00.0", "GPU-7", "all"}) {
    const Status named = name_managers(host_, {{nothing, "dra"}}, gpus_);
    ASSERT_FALSE(named.ok()) << nothing;
    EXPECT_THAT(named.error().what, HasSubstr(nothing));
  }
}

TEST_F(MigManagers, AreReportedByTheDriverOfTheDevice) {
  const auto gpu = [&](const std::string& address, const std::string& driver) {
    PciDevice device;
    device.address = address;
    device.vendor = 0x10de;
    device.device = 0x2330;
    device.device_class = 0x030200;
    device.driver = driver;
    host_.pci(device);
  };
  gpu("0000:18:00.0", "nvidia");
  gpu("0000:2a:00.0", "vfio-pci");
  gpu("0000:5a:00.0", "vfio-pci");
  EXPECT_THAT(named(), ElementsAre("", "vfio", ""));
  EXPECT_THAT(gpus_of_vfio(host_, gpus_),
              ElementsAre("the GPU at 0000:5a:00.0 belongs to vfio-pci, so it is left alone"));
  gpu("0000:6a:00.0", "nvidia");
  EXPECT_THAT(lost_gpus(host_, gpus_), ElementsAre("0000:6a:00.0")) << "NVML does not show it";
}

TEST_F(MigManagers, LeaveTheirGpusAlone) {
  gpus_[1].manager = "dra";
  Entry all{.where = "here", .filter = {}, .devices = {}, .layout = {.enabled = true, .devices = {}}};
  const auto intents = intents_of({all}, gpus_);
  ASSERT_TRUE(intents.ok());
  EXPECT_EQ(intents->gpus.size(), 2U);
  EXPECT_THAT(intents->notes, ElementsAre("GPU 1 (0000:2a:00.0) is managed by dra, so it is left alone"));
  all.devices = {0, 2};
  EXPECT_THAT(intents_of({all}, gpus_)->notes, IsEmpty());
  all.devices = {0, 1};
  const auto named_by_index = intents_of({all}, gpus_);
  ASSERT_FALSE(named_by_index.ok());
  EXPECT_THAT(named_by_index.error().what, HasSubstr("GPU 1 (0000:2a:00.0) is managed by dra"));
  EXPECT_EQ(named_by_index.error().where, "here");
}

}  // namespace
}  // namespace slipway::mig
