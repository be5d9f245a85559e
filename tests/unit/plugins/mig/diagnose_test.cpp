// SPDX-License-Identifier: Apache-2.0
#include "mig/diagnose/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "products.hpp"

namespace slipway::mig {
namespace {

using namespace testing;
using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Gpu as_number(Gpu gpu, unsigned index) {
  gpu.index = index;
  return gpu;
}

/// Returns the findings for GPUs of which the config selects the first one, with these devices.
std::vector<Finding> findings_of(const std::vector<Gpu>& gpus, const Counts& devices) {
  const Entry entry{.where = "test",
                    .filter = {},
                    .devices = std::vector<unsigned>{0},
                    .layout = {.enabled = true, .devices = devices}};
  const auto intents = intents_of({entry}, gpus);
  Findings findings;
  diagnose_gpus(gpus, &intents->gpus, "the config it", findings);
  return findings.list();
}

TEST(MigDiagnose, FindsNothingOnGpusThatMatchTheConfig) {
  const Gpu gpu = h100();
  EXPECT_THAT(findings_of({with(gpu, {whole(gpu, "7g.80gb", 0)})}, counts({{"7g.80gb", 1}})), IsEmpty());
  Gpu disabled = as_number(gpu, 1);
  disabled.enabled = disabled.pending = false;
  EXPECT_THAT(findings_of({with(gpu, {whole(gpu, "7g.80gb", 0)}), disabled}, counts({{"7g.80gb", 1}})), IsEmpty());
}

TEST(MigDiagnose, FindsGpusThatNoProgramCanUse) {
  const auto found = findings_of({h100(), as_number(h100(), 1)}, counts({{"7g.80gb", 1}}));
  ASSERT_EQ(found.size(), 2U);
  for (const Finding& each : found) {
    EXPECT_EQ(each.name, "mig.no-instances");
    EXPECT_EQ(each.status, Finding::Status::fail);
  }
  EXPECT_THAT(found[0].text, HasSubstr("no program can use GPU 0 (0000:18:00.0)"));
  EXPECT_THAT(found[0].remedy, HasSubstr("`slipway apply`"));
  EXPECT_THAT(found[1].text, HasSubstr("GPU 1 (0000:18:00.0), which no entry of the config it selects"));
  const auto meant = findings_of({h100()}, {});
  ASSERT_EQ(meant.size(), 1U);
  EXPECT_EQ(meant[0].status, Finding::Status::warning) << "the config says so";
}

TEST(MigDiagnose, FindsGpuInstancesWithoutComputeInstances) {
  const auto found =
      findings_of({with(h100(), {GpuInstance{.start = 4, .profile_id = 9, .compute = {}}})}, counts({{"3g.40gb", 1}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "mig.no-devices");
  EXPECT_THAT(found[0].text, HasSubstr("3g.40gb at 4 without a compute instance on GPU 0"));
  EXPECT_THAT(found[0].remedy, HasSubstr("`nvidia-smi mig -cci -gi N`"));
}

TEST(MigDiagnose, FindsAModeThatWaitsForAResetOnAnyGpu) {
  Gpu other = as_number(h100(), 1);
  other.enabled = false;
  const auto found = findings_of({with(h100(), {whole(h100(), "7g.80gb", 0)}), other}, counts({{"7g.80gb", 1}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "mig.reset");
  EXPECT_THAT(found[0].text, HasSubstr("waits for a reset of GPU 1 (0000:18:00.0)"));
}

TEST(MigDiagnose, FindsDevicesThatABootDoesNotRestore) {
  const Gpu gpu = h100();
  const Gpu made = with(gpu, {whole(gpu, "7g.80gb", 0)});
  const auto found = findings_of({made, as_number(with(gpu, {whole(gpu, "3g.40gb", 4)}), 1)}, counts({{"7g.80gb", 1}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "mig.unmanaged");
  EXPECT_EQ(found[0].status, Finding::Status::warning);
  EXPECT_THAT(found[0].text, HasSubstr("GPU 1 (0000:18:00.0) (1 x 3g.40gb)"));
  Findings unknown;
  diagnose_gpus({made}, nullptr, "the config it", unknown);
  EXPECT_THAT(unknown.list(), IsEmpty()) << "it cannot be told what the config takes";
}

TEST(MigDiagnose, FindsInstancesWithoutDeviceNodes) {
  FakeHost host;
  const auto found = [&host] {
    Findings findings;
    diagnose_capabilities(host, findings);
    return findings.list();
  };
  EXPECT_THAT(found(), IsEmpty());
  const std::string instance = "/proc/driver/nvidia/capabilities/gpu0/mig/gi1";
  host.file(instance + "/access", "DeviceFileMinor: 12\nDeviceFileMode: 292\nDeviceFileModify: 1\n")
      .file(instance + "/ci0/access", "DeviceFileMinor: 13\n")
      .file("/proc/driver/nvidia/capabilities/mig/config", "DeviceFileMinor: 1\n")
      .device("/dev/nvidia-caps/nvidia-cap12", 240, 12)
      .device("/dev/nvidia-caps/nvidia-cap13", 240, 13);
  EXPECT_THAT(found(), IsEmpty());
  host.without("/dev/nvidia-caps/nvidia-cap13");
  const auto one = found();
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].name, "mig.caps");
  EXPECT_THAT(one[0].text, HasSubstr("/dev/nvidia-caps/nvidia-cap13"));
  EXPECT_THAT(one[0].remedy, HasSubstr("`nvidia-modprobe -f " + instance + "/ci0/access`"));
}

}  // namespace
}  // namespace slipway::mig
