// SPDX-License-Identifier: Apache-2.0
#include "nvidia/proc_files.hpp"

#include <random>

#include <gtest/gtest.h>

#include "nvidia/driver_version.hpp"

namespace slipway::nvidia {
namespace {

constexpr std::string_view kProprietary =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.309.01  Thu Aug  6 11:02:13 UTC 2026\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14+deb12u1)\n";
constexpr std::string_view kOpen =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.261.03  Release Build  (root@host)  \n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14+deb12u1)\n";

TEST(ProcVersion, ReadsBothFlavours) {
  const auto proprietary = parse_proc_version(kProprietary);
  ASSERT_TRUE(proprietary);
  EXPECT_EQ(proprietary->version, "535.309.01");
  EXPECT_EQ(proprietary->flavour, Flavour::proprietary);
  EXPECT_EQ(proprietary->compiler, "gcc version 12.2.0 (Debian 12.2.0-14+deb12u1)");
  const auto open = parse_proc_version(kOpen);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->version, "535.261.03");
  EXPECT_EQ(open->flavour, Flavour::open);
}

TEST(ProcVersion, IsNothingWithoutAnNvrmLineThatHasAVersion) {
  for (const auto* text :
       {"", "GCC version: 12.2.0\n", "NVRM version:\n", "NVRM version: NVIDIA UNIX x86_64\nGCC version: 1\n"})
    EXPECT_FALSE(parse_proc_version(text)) << text;
}

// Cut, doubled and mangled texts give nothing or a well-formed version.
TEST(ProcVersion, OfMangledTextIsNothingOrWellFormed) {
  std::mt19937 random{7};
  for (int round = 0; round < 5000; ++round) {
    std::string text{round % 2 ? kOpen : kProprietary};
    for (auto edits = random() % 6; edits > 0; --edits) {
      const auto at = random() % (text.size() + 1);
      if (random() % 2)
        text.insert(at, 1, static_cast<char>(random() % 256));
      else
        text.erase(at, random() % 9);
    }
    const auto parsed = parse_proc_version(text);
    EXPECT_TRUE(!parsed || DriverVersion::parse(parsed->version)) << text;
  }
}

TEST(GpuMinor, IsReadFromTheInformationFile) {
  EXPECT_EQ(parse_gpu_minor("Model: \t\t NVIDIA H100\nDevice Minor: \t 3\nGPU Excluded:\t No\n"), 3U);
  EXPECT_FALSE(parse_gpu_minor("Model: NVIDIA H100\n"));
  EXPECT_FALSE(parse_gpu_minor("Device Minor: three\n"));
}

TEST(DeviceNodes, FollowTheModulesThatAreLoaded) {
  EXPECT_TRUE(control_nodes({}).empty());
  const auto nodes = control_nodes({"nvidia", "nvidia-uvm", "nvidia-modeset"}, 0660);
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[0].path, "/dev/nvidiactl");
  EXPECT_EQ(nodes[0].major, 195U);
  EXPECT_EQ(nodes[0].minor, 255U);
  EXPECT_EQ(nodes[2].path, "/dev/nvidia-uvm-tools");
  EXPECT_EQ(nodes[2].major_of, "nvidia-uvm");
  EXPECT_EQ(nodes[2].minor, 1U);
  EXPECT_EQ(nodes[3].minor, 254U);
  for (const auto& node : nodes) EXPECT_EQ(node.mode, 0660U);
  EXPECT_EQ(gpu_node(7).path, "/dev/nvidia7");
}

}  // namespace
}  // namespace slipway::nvidia
