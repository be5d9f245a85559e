// SPDX-License-Identifier: Apache-2.0
#include "nvidia/gpu.hpp"

#include <cctype>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/gpus/gpu_table.hpp"
#include "nvidia/loaded_driver.hpp"

namespace slipway::nvidia {
namespace {

TEST(Architecture, OfEachKnownBoardIsCorrect) {
  const std::map<std::uint16_t, Architecture> boards{
      {0x102d, Architecture::kepler},        {0x13f2, Architecture::maxwell},   {0x15f8, Architecture::pascal},
      {0x1b38, Architecture::pascal},        {0x1db4, Architecture::volta},     {0x1db5, Architecture::volta},
      {0x1df6, Architecture::volta},         {0x1eb8, Architecture::turing},    {0x2184, Architecture::turing},
      {0x20b0, Architecture::ampere},        {0x20b5, Architecture::ampere},    {0x20f1, Architecture::ampere},
      {0x2236, Architecture::ampere},        {0x25b6, Architecture::ampere},    {0x27b8, Architecture::ada},
      {0x26b9, Architecture::ada},           {0x2330, Architecture::hopper},    {0x2335, Architecture::hopper},
      {0x2342, Architecture::hopper},        {0x2901, Architecture::blackwell}, {0x2941, Architecture::blackwell},
      {0x2bb5, Architecture::blackwell},     {0x31c2, Architecture::blackwell}, {0x3021, Architecture::rubin},
      {0x06d1, Architecture::fermi_or_older}};
  for (const auto& [id, expected] : boards)
    EXPECT_EQ(to_string(architecture_of(id)), to_string(expected)) << std::hex << id;
}

TEST(Architecture, OfUnknownIdsIsNewerOrUnknown) {
  EXPECT_EQ(architecture_of(0x4000), Architecture::newer);
  EXPECT_EQ(architecture_of(0xffff), Architecture::newer);
  EXPECT_EQ(architecture_of(0x1900), Architecture::unknown);
  EXPECT_EQ(architecture_of(0x2f80), Architecture::unknown);
}

TEST(Architecture, NamesAreReadBackAsTheyArePrinted) {
  for (int i = 0; i <= static_cast<int>(Architecture::unknown); ++i) {
    const auto architecture = static_cast<Architecture>(i);
    EXPECT_EQ(parse_architecture(to_string(architecture)), architecture);
  }
  EXPECT_FALSE(parse_architecture("hooper"));
}

// The chip's code name in the PCI ID database of this machine decides for every NVIDIA id that has one.
TEST(Architecture, AgreesWithTheCodeNamesInThePciIdDatabase) {
  std::ifstream database("/usr/share/misc/pci.ids");
  if (!database) GTEST_SKIP() << "no /usr/share/misc/pci.ids here";
  const std::map<std::string, Architecture> codes{
      {"GK", Architecture::kepler}, {"GM", Architecture::maxwell},       {"GP", Architecture::pascal},
      {"GV", Architecture::volta},  {"TU", Architecture::turing},        {"GA", Architecture::ampere},
      {"AD", Architecture::ada},    {"GH", Architecture::hopper},        {"GB", Architecture::blackwell},
      {"GR", Architecture::rubin},  {"GF", Architecture::fermi_or_older}};
  bool nvidia = false;
  int checked = 0;
  for (std::string line; std::getline(database, line);) {
    if (line.size() > 6 && line[0] != '\t' && line[0] != '#') nvidia = line.starts_with("10de ");
    if (!nvidia || line.size() < 12 || line[0] != '\t' || line[1] == '\t') continue;
    const std::string name = line.substr(7);
    const auto code = codes.find(name.substr(0, 2));
    // Only chips ("GA102", …), and only their GPU function.
    if (code == codes.end() || !std::isdigit(static_cast<unsigned char>(name[2]))) continue;
    bool other_function = false;
    for (const auto* word : {"Audio", "USB", "UCSI", "Switch", "bridge", "PCIe host"})
      other_function |= name.find(word) != std::string::npos;
    if (other_function) continue;
    const auto id = static_cast<std::uint16_t>(std::stoul(line.substr(1, 4), nullptr, 16));
    EXPECT_EQ(to_string(architecture_of(id)), to_string(code->second)) << line;
    ++checked;
  }
  EXPECT_GT(checked, 700);
}

TEST(Gpu, IsAnNvidiaDisplayFunctionOfAnyKind) {
  EXPECT_TRUE(is_gpu({.vendor = 0x10de, .device = 0x2330, .device_class = 0x030200}));
  EXPECT_TRUE(is_gpu({.vendor = 0x10de, .device = 0x1e30, .device_class = 0x030000}));
  EXPECT_FALSE(is_gpu({.vendor = 0x10de, .device = 0x22a3, .device_class = 0x068000}));
  EXPECT_FALSE(is_gpu({.vendor = 0x10de, .device = 0x22ba, .device_class = 0x040300}));
  EXPECT_FALSE(is_gpu({.vendor = 0x1002, .device = 0x2330, .device_class = 0x030200}));
}

TEST(Gpu, FromPciHasItsProductNameOrElseItsId) {
  const auto h100 = gpu_from_pci({.address = "0000:65:00.0", .vendor = 0x10de, .device = 0x2330, .driver = "nouveau"});
  EXPECT_EQ(h100.name, "H100-SXM");
  EXPECT_EQ(h100.address, "0000:65:00.0");
  EXPECT_EQ(h100.driver, "nouveau");
  EXPECT_EQ(gpu_from_pci({.vendor = 0x10de, .device = 0x2204}).name, "GPU 10de:2204");
}

TEST(Gpu, OfGraceHopperAndOfBlackwellRequiresTheOpenModules) {
  EXPECT_TRUE(gpu_from_text("GH200")->support.requires_open);
  EXPECT_TRUE(gpu_from_text("b200")->support.requires_open);
  EXPECT_TRUE(gpu_from_text("blackwell")->support.requires_open);
  EXPECT_FALSE(gpu_from_text("H100-SXM")->support.requires_open);
  EXPECT_FALSE(gpu_from_text("hopper")->support.requires_open);
}

TEST(Gpu, IsFoundByProductFamilyIdAndArchitecture) {
  for (const auto* text :
       {"H100-SXM", "h100_sxm", "H100", "NVIDIA H100", "2330", "10de:2330", "0x2330", "hopper", "Hopper"}) {
    ASSERT_TRUE(gpu_from_text(text)) << text;
    EXPECT_EQ(gpu_from_text(text)->architecture, Architecture::hopper) << text;
  }
  EXPECT_EQ(gpu_from_text("Tesla T4")->device, 0x1eb8);
  EXPECT_EQ(gpu_from_text("RTX PRO 6000")->architecture, Architecture::blackwell);
  EXPECT_EQ(gpu_from_text("A2")->device, 0x25b6);
}

TEST(Gpu, NamesThatAreHexadecimalNumbersTooMeanTheBoard) {
  EXPECT_EQ(gpu_from_text("A100")->architecture, Architecture::ampere);
  EXPECT_EQ(gpu_from_text("B200")->device, 0x2901);
  EXPECT_EQ(gpu_from_text("0xb200")->architecture, Architecture::newer);
}

TEST(Gpu, IsNotFoundByHalfANameOrNonsense) {
  for (const auto* text : {"", "H10", "H1000", "233", "10de:23301", "newer", "unknown", "nvidia", "-"})
    EXPECT_FALSE(gpu_from_text(text)) << text;
}

TEST(Gpu, TakesEveryNameThatItOffers) {
  for (const auto& name : known_gpu_names()) {
    const auto gpu = gpu_from_text(name);
    ASSERT_TRUE(gpu) << name;
    EXPECT_LT(gpu->architecture, Architecture::newer) << name;
  }
}

// Before the fix, each component had its own rule, and two went on in an image whose spec said `hardware: detect`.
TEST(FactsWithoutGpu, FollowTheHardwareKeyOfTheSpec) {
  testing::FakeHost host;
  EXPECT_FALSE(facts_without_gpu(host)) << "an image";
  EXPECT_EQ(facts_without_gpu(host.hardware("detect"))->why_not(), "this root shows no devices");
  EXPECT_TRUE(facts_without_gpu(host.hardware("require"))->has("problem"));
  host.live("6.1").hardware("");
  host.pci({.address = "0000:02:00.0", .vendor = 0x10de, .device = 0x22a3, .device_class = 0x068000});
  EXPECT_EQ(facts_without_gpu(host)->why_not(), "no NVIDIA GPU on the PCI bus") << "an NVSwitch is none";
  EXPECT_FALSE(facts_without_gpu(host.hardware("assume")));
  host.pci({.address = "0000:65:00.0", .vendor = 0x10de, .device = 0x2330, .device_class = 0x030200});
  for (const char* hardware : {"detect", "require", "assume"})
    EXPECT_FALSE(facts_without_gpu(host.hardware(hardware))) << hardware;
}

// Before the fix, services and tools that asked NVML on a machine without a GPU had nvidia.ko loaded and unloaded once
// a second.
TEST(DriverForNothing, IsLoadedByNvmlOnlyWhereTheKernelHasOneAndThereIsNoGpu) {
  testing::FakeHost host;
  host.live("6.1").file("/proc/sys/kernel/osrelease", "6.1\n");
  EXPECT_FALSE(would_load_driver_for_nothing(host)) << "a mock of NVML, or a driver root without a module";
  host.file("/lib/modules/6.1/modules.dep", "kernel/a.ko:\nupdates/slipway/nvidia.ko.xz:\n");
  EXPECT_TRUE(would_load_driver_for_nothing(host));
  host.pci({.address = "0000:65:00.0", .vendor = 0x10de, .device = 0x2330, .device_class = 0x030200});
  EXPECT_FALSE(would_load_driver_for_nothing(host));
}

TEST(NvSwitch, IsKnownByItsManagementFunctionAlone) {
  const auto of = [](std::uint16_t id, std::uint32_t device_class = 0x068000) {
    return nvswitch_of({.vendor = 0x10de, .device = id, .device_class = device_class});
  };
  EXPECT_EQ(of(0x1af1), NvSwitch::lr10);
  EXPECT_EQ(of(0x1ae8), NvSwitch::lr10);
  EXPECT_EQ(of(0x22a3), NvSwitch::ls10);
  EXPECT_FALSE(of(0x22a8));
  EXPECT_FALSE(of(0x22ac));
  EXPECT_FALSE(of(0x22a3, 0x060400));
  EXPECT_FALSE(nvswitch_of({.vendor = 0x15b3, .device = 0x22a3, .device_class = 0x068000}));
}

TEST(NvSwitch, OfNvLink5IsFoundInTheVitalProductData) {
  EXPECT_TRUE(is_nvlink5_switch_vpd(std::string("\x82\x10\0PN\x05MQM97SW_MNG\0", 18)));
  EXPECT_FALSE(is_nvlink5_switch_vpd("ConnectX-7"));
}

TEST(PciPlace, IsTheSameForTheKernelAndNvml) {
  EXPECT_EQ(pci_place("00000000:C9:00.0"), "0000:c9:00");
  EXPECT_EQ(pci_place("0000:c9:00"), "0000:c9:00");
  EXPECT_EQ(pci_place("00010000:c9:00.0"), "00010000:c9:00");
  EXPECT_EQ(pci_place("C9:00.0"), "0000:c9:00");
  EXPECT_EQ(pci_place(""), "");
}

// Before the fix, GPUs that NVML was configured not to show were reported as permanently lost.
TEST(GpusOfTheDriver, AreThoseThatNvmlOughtToShow) {
  testing::FakeHost host;
  for (const auto& [address, driver] : std::map<std::string, std::string>{{"0000:05:00.0", "nvidia"},
                                                                          {"0000:04:00.0", ""},
                                                                          {"0000:03:00.0", "nouveau"},
                                                                          {"0000:02:00.4", "nvidia"},
                                                                          {"0000:01:00.0", "nvidia"}})
    host.pci({.address = address, .vendor = kVendor, .device = 0x2330, .device_class = 0x030200, .driver = driver});
  host.directory("/sys/bus/pci/devices/0000:02:00.4/physfn");
  host.file("/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: x\nGPU Excluded:\t Yes\n");
  host.file("/proc/driver/nvidia/gpus/0000:05:00.0/information", "Model: Yes\nGPU Excluded:\t No\n");
  std::vector<std::string> addresses;
  for (const PciDevice& each : gpus_of_the_driver(host)) addresses.push_back(each.address);
  EXPECT_EQ(addresses, (std::vector<std::string>{"0000:04:00.0", "0000:05:00.0"}));
}

}  // namespace
}  // namespace slipway::nvidia
