// SPDX-License-Identifier: Apache-2.0
#include "nvidia/machine/gpu_bus.hpp"

#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

namespace slipway::nvidia {
namespace {

using slipway::testing::FakeHost;

constexpr std::uint16_t kH100 = 0x2330;
constexpr std::uint16_t kK80 = 0x102d;

PciDevice gpu_at(const std::string& address, std::uint16_t device = kH100, const std::string& driver = "nvidia") {
  PciDevice made;
  made.address = address;
  made.vendor = 0x10de;
  made.device = device;
  made.device_class = 0x030200;
  made.driver = driver;
  return made;
}

std::vector<AnsweringGpu> answering(const std::vector<std::string>& addresses) {
  std::vector<AnsweringGpu> all;
  for (const std::string& address : addresses) all.push_back({address, "NVIDIA H100 80GB HBM3"});
  return all;
}

TEST(GpuBus, KeepsThePlaceOfAGpuThatNvmlDoesNotShow) {
  FakeHost host;
  host.pci(gpu_at("0000:18:00.0")).pci(gpu_at("0000:2a:00.0", kH100, "")).pci(gpu_at("0000:3a:00.0"));
  const auto seen = answering({"00000000:18:00.0", "00000000:3A:00.0"});
  GpuBus bus;
  bus.look(host, seen, "550.54.14");
  EXPECT_EQ(bus.place_of("0000:18:00.0"), 0U);
  EXPECT_EQ(bus.place_of("0000:3a:00.0"), 2U) << "NVML calls it 1";
  const auto absent = bus.absent(seen);
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0], (AbsentGpu{1, "0000:2a:00.0", "NVIDIA H100 80GB HBM3"}));
}

TEST(GpuBus, IgnoresGpusThatTheDriverNeverHad) {
  FakeHost host;
  host.pci(gpu_at("0000:02:00.0", kK80, "")).pci(gpu_at("0000:18:00.0"));
  GpuBus bus;
  bus.look(host, answering({"0000:18:00.0"}), "550.54.14");
  EXPECT_EQ(bus.place_of("0000:18:00.0"), 0U) << "driver 550 supports no Kepler";
  FakeHost with_vfio;
  with_vfio.pci(gpu_at("0000:02:00.0", kH100, "vfio-pci")).pci(gpu_at("0000:18:00.0"));
  bus.look(with_vfio, answering({"0000:18:00.0"}), "550.54.14");
  EXPECT_EQ(bus.place_of("0000:18:00.0"), 0U);
}

TEST(GpuBus, IsIgnoredWhenItLacksAnsweringGpus) {
  FakeHost host;
  host.pci(gpu_at("0000:18:00.0"));
  GpuBus bus;
  bus.look(host, answering({"0000:18:00.0", "0000:3a:00.0"}), "550.54.14");
  EXPECT_TRUE(bus.gpus().empty());
  EXPECT_FALSE(bus.place_of("0000:18:00.0"));
  EXPECT_TRUE(bus.absent(answering({"0000:18:00.0"})).empty());
}

}  // namespace
}  // namespace slipway::nvidia
