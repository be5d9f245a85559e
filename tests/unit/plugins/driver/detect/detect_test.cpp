// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "driver/component/driver.hpp"
#include "driver/detect/host_facts.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using testing::TestHost;

Facts detect(const Host& host) {
  auto facts = Driver{}.detect(Spec{}, host);
  EXPECT_TRUE(facts) << to_text(facts.error());
  return facts ? *facts : Facts{};
}

TEST(DriverDetect, IsNotApplicableOnALiveHostWithoutAnNvidiaGpu) {
  TestHost host;
  host.pci("0000:00:02.0", 0x1a03, 0x2000, 0x030000);
  EXPECT_FALSE(detect(*host.live()).applicable());
  EXPECT_EQ(detect(*host.live()).why_not(), "no NVIDIA GPU on the PCI bus");
}

TEST(DriverDetect, IsNotApplicableWhenEveryGpuIsHandedToVirtualMachines) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330, "vfio-pci");
  EXPECT_EQ(detect(*host.live()).why_not(), "every NVIDIA GPU is assigned to virtual machines (vfio)");
}

TEST(DriverDetect, ContinuesWithoutAGpuWhenHardwareIsAssumedOrTheRootIsAnImage) {
  TestHost host;
  EXPECT_TRUE(detect(*host.offline()).applicable());
  EXPECT_TRUE(detect(*host.hardware("assume").live()).applicable());
  EXPECT_TRUE(detect(*host.hardware("require").live()).applicable());
  EXPECT_FALSE(detect(*host.hardware("detect").offline()).applicable());
}

TEST(DriverDetect, FindsGpusSwitchesAndLoadedModules) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330, "nvidia").gpu("0000:43:00.0", 0x2331, "nvidia");
  host.pci("0000:05:00.0", 0x10de, 0x22a3, 0x068000).pci("0000:06:00.0", 0x10de, 0x22ba, 0x040300);
  host.pci("0000:07:00.0", 0x15b3, 0x1021, 0x020700);
  host.view().file("/sys/bus/pci/devices/0000:07:00.0/vpd", "\x82SW_MNG");
  host.loaded("535.261.03", {"nvidia", "nvidia-uvm"});
  const auto facts = detect(*host.live());
  EXPECT_EQ(
      canonical(facts.value("gpus")[0]),
      R"({"address":"0000:1b:00.0","architecture":"hopper","device":"2330","driver":"nvidia","name":"H100-SXM"})");
  EXPECT_EQ(facts.value("gpus").size(), 2U);
  EXPECT_EQ(facts.texts("nvswitches"), std::vector<std::string>{"0000:05:00.0"});
  EXPECT_TRUE(facts.flag("nvlink5_switches"));
  EXPECT_EQ(canonical(facts.value("loaded")),
            R"({"flavour":"open","modules":["nvidia","nvidia-uvm"],"version":"535.261.03"})");
}

TEST(DriverDetect, FindsTheKernelItsHeadersAndTheRootsLayout) {
  TestHost host;
  host.build_tools();
  const auto facts = detect(*host.offline());
  EXPECT_EQ(facts.text("kernel.release"), testing::kKernel);
  EXPECT_EQ(facts.value("kernel.headers")["path"], "/usr/src/linux-headers-6.1.0-50-amd64");
  EXPECT_EQ(facts.text("build.compiler"), "/usr/bin/gcc-12");
  EXPECT_TRUE(facts.flag("build.make"));
  EXPECT_EQ(facts.text("root.os"), "debian12");
  EXPECT_EQ(facts.text("root.lib_folder"), "/usr/lib");
  EXPECT_FALSE(facts.has("installed"));
}

TEST(HostFacts, SurviveTheTripThroughFacts) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2342, "nouveau").gpu("0000:1c:00.0", 0x2204).build_tools();
  host.loaded("535.261.03", {"nvidia"}, false);
  host.root().file("/var/lib/nvidia/log", "550.54.14\n");
  host.root().file("/usr/lib/slipway/driver.json",
                   receipt_text({.version = "535.261.03", .files = {.libdir = "usr/lib64"}, .modules = {"nvidia.ko"}}));
  const HostFacts facts = read_host_facts(*host.live());
  const HostFacts back = host_facts_from(to_facts(facts));
  EXPECT_EQ(to_json(to_facts(back)), to_json(to_facts(facts)));
  EXPECT_TRUE(back.gpus[0].support.requires_open);
  EXPECT_EQ(back.installed->modules, std::vector<std::string>{"nvidia.ko"});
}

TEST(HostFacts, OfSeveralKernelsSurviveTheTripThroughFacts) {
  TestHost host;
  host.build_tools();
  host.root().file("/usr/lib/modules/6.1.0-56-amd64/modules.builtin", "");
  const HostFacts facts = read_host_facts(*host.live(), {KernelChoice::Which::all, {}});
  EXPECT_EQ(facts.kernel.release, "6.1.0-56-amd64");
  ASSERT_EQ(facts.further_kernels.size(), 1U);
  EXPECT_EQ(facts.further_kernels[0].release, testing::kKernel);
  EXPECT_EQ(facts.further_kernels[0].compiler, "/usr/bin/gcc-12");
  EXPECT_EQ(facts.running_kernel, testing::kKernel);
  const HostFacts back = host_facts_from(to_facts(facts));
  EXPECT_EQ(to_json(to_facts(back)), to_json(to_facts(facts)));
  EXPECT_TRUE(back.further_kernels[0].headers);
}

TEST(Receipt, NamesEachKernelWithItsModules) {
  Receipt receipt{
      .version = "535.261.03", .kernel_release = "b", .files = {.libdir = "usr/lib64"}, .modules = {"b.ko"}};
  receipt.further = {{"a", true, "sha256:a", {"a.ko"}}};
  receipt.without = {"c"};
  const Json json = to_json(receipt);
  EXPECT_EQ(json["kernels"][0]["release"], "b");
  EXPECT_EQ(json["kernels"][1]["modules"], Json{"a.ko"});
  const auto back = receipt_from_json(json);
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), json);
  EXPECT_TRUE(back->has_kernel("a"));
  EXPECT_FALSE(back->has_kernel("c"));
}

// In the format of slipway 0.1.0.
TEST(Receipt, OfOneKernelIsStillRead) {
  const auto receipt = receipt_from_json(Json::parse(
      R"({"apiVersion": "slipway.dev/driver/v1", "version": "535.261.03", "flavour": "open", "kernel": "6.1.0-50-amd64",
          "compiled": true, "manifest": "sha256:1", "files": {"libdir": "usr/lib64", "libraries": [], "tools": [],
          "icds": []}, "firmware": true, "modules": ["nvidia.ko"], "libdir": ""})"));
  ASSERT_TRUE(receipt);
  ASSERT_EQ(receipt->kernels().size(), 1U);
  EXPECT_EQ(receipt->kernels()[0].modules, std::vector<std::string>{"nvidia.ko"});
  EXPECT_TRUE(receipt->kernels()[0].compiled);
}

TEST(Receipt, OfAnotherFormatIsIgnored) {
  TestHost host;
  for (const auto* text : {"", "{", "[]", "{\"apiVersion\": \"slipway.dev/driver/v9\"}",
                           "{\"apiVersion\": \"slipway.dev/driver/v1\", \"version\": \"1.1\"}"}) {
    host.root().file("/usr/lib/slipway/driver.json", text);
    EXPECT_FALSE(read_receipt(*host.offline())) << text;
  }
}

}  // namespace
}  // namespace slipway::driver
