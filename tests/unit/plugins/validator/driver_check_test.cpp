// SPDX-License-Identifier: Apache-2.0
#include "validator/driver_check.hpp"

#include <map>

#include "gpu_machine.hpp"
#include "tests/unit/plugins/ld_cache_bytes.hpp"
#include "validator/component/validator.hpp"

namespace slipway::validator {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using testing::shown;

class DriverCheckTest : public testing::GpuMachine {
 protected:
  std::string run() { return shown(check.run()); }
  DriverCheck check{host, "", testing::look_here};
};

TEST_F(DriverCheckTest, PassesWhenModuleNodesLibraryAndEveryGpuAnswer) {
  EXPECT_EQ(run(), "pass validator.driver: driver 535.261.03 answers for 2 GPUs");
  EXPECT_EQ(check.gpus().size(), 2U);
}

TEST_F(DriverCheckTest, FailsWhenTheModuleIsNotLoaded) {
  host.without("/sys/module/nvidia").file("/proc/modules", "");
  EXPECT_EQ(run(), "fail validator.driver: the kernel module nvidia is not loaded");
}

TEST_F(DriverCheckTest, NamesNodesThatAreMissingOrOfAnotherDevice) {
  host.without("/dev/nvidia1").device("/dev/nvidia-uvm", 511, 0);
  EXPECT_EQ(run(), "fail validator.driver: /dev/nvidia-uvm is not the device 510:0; /dev/nvidia1 is missing");
}

TEST_F(DriverCheckTest, FailsForALostGpuAndPassesAgainWhenItIsBack) {
  EXPECT_THAT(run(), HasSubstr("pass"));
  nvml.file("lost", "");
  EXPECT_THAT(run(), HasSubstr("fail validator.driver: nvml: GPU 0"));
  EXPECT_THAT(run(), HasSubstr("NVML_ERROR_GPU_IS_LOST"));
  std::filesystem::remove(nvml.at("lost"));
  EXPECT_THAT(run(), HasSubstr("pass"));
}

// NVML does not list a GPU that the driver could not start. Before the fix, seven of eight passed.
TEST_F(DriverCheckTest, FailsWhereFewerGpusAnswerThanAreOnTheBus) {
  nvml.file("gpus", "1");
  EXPECT_EQ(run(), "fail validator.driver: driver 535.261.03 answers for 1 of the 2 GPUs on the PCI bus");
  EXPECT_TRUE(check.gpus().empty());
  nvml.file("gpus", "2");
  EXPECT_THAT(run(), HasSubstr("pass"));
}

// Before the fix, NVML was called twice a second, and kept open: 17 MB and a third of a percent of a processor.
TEST_F(DriverCheckTest, AsksNvmlAgainOnlyOnRequestOrForAnotherDriver) {
  const auto without_nvml = [&] { return shown(check.run_without_nvml()); };
  EXPECT_THAT(without_nvml(), HasSubstr("pass"));
  nvml.file("lost", "");
  EXPECT_THAT(without_nvml(), HasSubstr("pass"));
  EXPECT_EQ(check.looks(), 1U);
  EXPECT_THAT(run(), HasSubstr("NVML_ERROR_GPU_IS_LOST"));
  EXPECT_THAT(without_nvml(), HasSubstr("NVML_ERROR_GPU_IS_LOST"));
  EXPECT_EQ(check.looks(), 2U);
  // The kernel's view is used at once, and NVML is called again afterwards.
  std::filesystem::remove(nvml.at("lost"));
  host.without("/dev/nvidia1");
  EXPECT_THAT(without_nvml(), HasSubstr("/dev/nvidia1 is missing"));
  host.device("/dev/nvidia1", 195, 1);
  EXPECT_THAT(without_nvml(), HasSubstr("pass"));
  EXPECT_EQ(check.looks(), 3U);
  host.without("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1").file("/usr/lib64/libnvidia-ml.so.1", "");
  EXPECT_THAT(without_nvml(), HasSubstr("pass"));
  EXPECT_EQ(check.looks(), 4U);
  EXPECT_THAT(check.paths(), ::testing::IsSupersetOf(
                                 {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia1", "/usr/lib64/libnvidia-ml.so.1"}));
}

TEST_F(DriverCheckTest, FailsWhenTheLibraryFindsNoDriverOrNoGpu) {
  nvml.file("gone", "");
  EXPECT_THAT(run(), HasSubstr("fail"));
  std::filesystem::remove(nvml.at("gone"));
  nvml.file("gpus", "0");
  EXPECT_THAT(run(), HasSubstr("has no GPU"));
}

TEST(DriverCheckElsewhere, IsNotApplicableWithoutAGpuAndNotExercisedInAnImage) {
  FakeHost without;
  without.live("6.1.0-50-amd64");
  EXPECT_EQ(DriverCheck(without, "", testing::look_here).run().status, Verdict::not_applicable);
  const FakeHost image;
  EXPECT_EQ(DriverCheck(image, "", testing::look_here).run().status, Verdict::not_exercised);
}

// An image with the runtime that is booted without a GPU. Before the fix, a container was started for GPUs that do not
// exist.
TEST(DriverCheckElsewhere, WithoutAGpuNoContainerIsStartedEither) {
  FakeHost host;
  host.live("6.1.0-50-amd64").file("/usr/bin/slipway-runtime", "");
  host.file("/etc/docker/daemon.json", R"({"runtimes":{"nvidia":{"path":"/usr/bin/slipway-runtime"}}})");
  const auto findings = Validator{}.verify(Spec{{{"checks", {"driver", "toolkit"}}}}, host);
  ASSERT_TRUE(findings) << to_text(findings.error());
  std::map<std::string, Verdict> verdicts;
  for (const Finding& each : findings->list()) verdicts[each.name] = each.status;
  EXPECT_EQ(verdicts["validator.driver"], Verdict::not_applicable);
  EXPECT_EQ(verdicts["validator.toolkit"], Verdict::pass);
  EXPECT_EQ(verdicts["validator.container"], Verdict::not_applicable);
}

TEST(DriverReady, HasTheContentThatOperandsSource) {
  FakeHost host;
  host.file("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "");
  EXPECT_EQ(driver_ready_text(find_driver(host, "").value()),
            "IS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=/\nDRIVER_ROOT_CTR_PATH=/host\nNVIDIA_DEV_ROOT=/\n"
            "DEV_ROOT_CTR_PATH=/host\n");
}

// The layout of Google's nodes: the driver is below /usr/local/nvidia, and only ldconfig finds it.
TEST(DriverPlace, IsWhereTheDynamicLinkerFindsTheDriver) {
  FakeHost host;
  const std::string folder = "/usr/local/nvidia/lib64";
  for (const char* name : {"libnvidia-ml.so.1", "libcuda.so.1"}) host.file(folder + "/" + name, "");
  EXPECT_FALSE(find_driver(host, "").has_value());
  host.file("/etc/ld.so.cache", test::ld_cache_of({folder + "/libcuda.so.1", folder + "/libnvidia-ml.so.1"}));
  const auto place = find_driver(host, "");
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->root, "/");
  EXPECT_EQ(find_library(host, *place, "libcuda.so.1"), folder + "/libcuda.so.1");
  EXPECT_EQ(find_library(host, *place, "libcudadebugger.so.1"), "");
}

TEST(DriverReady, OfADriverContainerNamesItsRootAndItsDevicesIfItHasSome) {
  FakeHost host;
  host.file("/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1", "");
  EXPECT_EQ(driver_ready_text(find_driver(host, "").value()),
            "IS_HOST_DRIVER=false\nNVIDIA_DRIVER_ROOT=/run/nvidia/driver\nDRIVER_ROOT_CTR_PATH=/driver-root\n"
            "NVIDIA_DEV_ROOT=/\nDEV_ROOT_CTR_PATH=/host\n");
  host.directory("/run/nvidia/driver/dev");
  EXPECT_THAT(driver_ready_text(find_driver(host, "").value()),
              HasSubstr("NVIDIA_DEV_ROOT=/run/nvidia/driver\nDEV_ROOT_CTR_PATH=/driver-root\n"));
}

}  // namespace
}  // namespace slipway::validator
