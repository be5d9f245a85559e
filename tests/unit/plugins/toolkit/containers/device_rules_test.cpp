// SPDX-License-Identifier: Apache-2.0
// Device rules: lists of control groups of version 1, and programs as systemd and runc write them for version 2.
#include "toolkit/containers/device_rules.hpp"

#include <gtest/gtest.h>

namespace slipway::toolkit {
namespace {

constexpr DeviceNumber kGpu{195, 0};
constexpr DeviceNumber kNull{1, 3};

bpf_insn step(int code, int to, int from, int offset, int number) {
  bpf_insn made{};
  made.code = static_cast<__u8>(code);
  made.dst_reg = static_cast<__u8>(to & 0xf);
  made.src_reg = static_cast<__u8>(from & 0xf);
  made.off = static_cast<__s16>(offset);
  made.imm = number;
  return made;
}

/// The form of runc and systemd: type, access, major and minor in registers; a block for each rule; at the end the
/// answer for all other devices.
DeviceProgram program_for(const std::vector<DeviceNumber>& allowed) {
  DeviceProgram program{step(BPF_LDX | BPF_MEM | BPF_W, 2, 1, 0, 0), step(BPF_ALU | BPF_AND | BPF_K, 2, 0, 0, 0xffff),
                        step(BPF_LDX | BPF_MEM | BPF_W, 3, 1, 0, 0), step(BPF_ALU | BPF_RSH | BPF_K, 3, 0, 0, 16),
                        step(BPF_LDX | BPF_MEM | BPF_W, 4, 1, 4, 0), step(BPF_LDX | BPF_MEM | BPF_W, 5, 1, 8, 0)};
  for (const DeviceNumber& number : allowed)
    for (const bpf_insn& each :
         {step(BPF_JMP | BPF_JNE | BPF_K, 2, 0, 7, BPF_DEVCG_DEV_CHAR), step(BPF_ALU | BPF_MOV | BPF_X, 1, 3, 0, 0),
          step(BPF_ALU | BPF_AND | BPF_K, 1, 0, 0, BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE),
          step(BPF_JMP | BPF_JNE | BPF_X, 1, 3, 4, 0),
          step(BPF_JMP | BPF_JNE | BPF_K, 4, 0, 3, static_cast<int>(number.major)),
          step(BPF_JMP | BPF_JNE | BPF_K, 5, 0, 2, static_cast<int>(number.minor)),
          step(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1), step(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)})
      program.push_back(each);
  program.push_back(step(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0));
  program.push_back(step(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
  return program;
}

TEST(DeviceRulesTest, AListPermitsADeviceOfAnyLine) {
  EXPECT_TRUE(list_allows("a *:* rwm\n", kGpu));
  EXPECT_TRUE(list_allows("c 1:3 rwm\nc 195:* rw\n", kGpu));
  EXPECT_TRUE(list_allows("c 195:0 rw", kGpu));
  EXPECT_FALSE(list_allows("c 195:1 rw\nb 195:0 rw\nc 195:0 m\nc 195:0 r\n", kGpu));
  EXPECT_FALSE(list_allows("", kGpu));
  EXPECT_FALSE(list_allows("c 195 rw\nc\nc 195:0x rw\nc 4294967491:0 rw\n", kGpu));
}

TEST(DeviceRulesTest, AProgramIsCarriedOut) {
  const DeviceProgram program = program_for({kNull, kGpu});
  EXPECT_EQ(program_allows(program, kGpu), true);
  EXPECT_EQ(program_allows(program, {195, 1}), false);
  EXPECT_EQ(program_allows(program_for({kNull}), kGpu), false);
}

TEST(DeviceRulesTest, AnUnknownProgramIsNotInterpreted) {
  EXPECT_EQ(program_allows({}, kGpu), std::nullopt);
  EXPECT_EQ(program_allows({step(BPF_JMP | BPF_CALL, 0, 0, 0, 1)}, kGpu), std::nullopt);
  EXPECT_EQ(program_allows({step(BPF_JMP | BPF_JA, 0, 0, -1, 0)}, kGpu), std::nullopt);
  EXPECT_EQ(program_allows({step(BPF_JMP | BPF_JA, 0, 0, -9, 0)}, kGpu), std::nullopt);
  EXPECT_EQ(program_allows({step(BPF_LDX | BPF_MEM | BPF_W, 2, 1, 12, 0)}, kGpu), std::nullopt);
  EXPECT_EQ(program_allows({step(BPF_LDX | BPF_MEM | BPF_W, 2, 3, 0, 0)}, kGpu), std::nullopt);
  EXPECT_EQ(program_allows({step(BPF_ALU | BPF_MOV | BPF_K, 15, 0, 0, 0)}, kGpu), std::nullopt);
}

TEST(DeviceRulesTest, EachOfSeveralProgramsHasToPermit) {
  const DeviceProgram unknown{step(BPF_JMP | BPF_CALL, 0, 0, 0, 1)};
  DeviceRules rules;
  EXPECT_EQ(rules.allow(kGpu), true);  // a group without programs blocks nothing
  rules.programs = {program_for({kGpu, kNull}), program_for({kNull})};
  EXPECT_EQ(rules.allow(kGpu), false);
  EXPECT_EQ(rules.allow(kNull), true);
  rules.programs = {program_for({kGpu}), unknown};
  EXPECT_EQ(rules.allow(kGpu), std::nullopt);
  EXPECT_EQ(rules.allow(kNull), false);
}

}  // namespace
}  // namespace slipway::toolkit
