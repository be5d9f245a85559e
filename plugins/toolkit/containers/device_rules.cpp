// SPDX-License-Identifier: Apache-2.0
#include "toolkit/containers/device_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <slipway/text.hpp>

namespace slipway::toolkit {
namespace {

constexpr int kMostSteps = 100000;
constexpr std::size_t kRegisters = 11;
/// The simulated address of the program's context: no number that it computes with is near.
constexpr std::uint64_t kContext = std::uint64_t{1} << 40U;

bool matches(std::string_view word, unsigned number) {
  if (word == "*") return true;
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  return problem == std::errc{} && end == word.data() + word.size() && value == number;
}

/// Runs one program; supports the instructions for comparing numbers.
class Interpreter {
 public:
  Interpreter(const DeviceProgram& program, DeviceNumber number) : program_(program) {
    const bpf_cgroup_dev_ctx context{
        .access_type = ((BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE) << 16U) | BPF_DEVCG_DEV_CHAR,
        .major = number.major,
        .minor = number.minor};
    std::memcpy(context_.data(), &context, context_.size());
    registers_[BPF_REG_1] = kContext;
  }

  std::optional<bool> run() {
    for (int steps = 0; steps < kMostSteps && at_ < program_.size(); ++steps) {
      const bpf_insn& step = program_[at_++];
      if (step.dst_reg >= kRegisters || step.src_reg >= kRegisters) return std::nullopt;
      if (step.code == (BPF_JMP | BPF_EXIT)) return static_cast<std::uint32_t>(registers_[BPF_REG_0]) != 0;
      if (!carry_out(step)) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  bool carry_out(const bpf_insn& step) {
    switch (BPF_CLASS(step.code)) {
      case BPF_LDX:
        return load(step);
      case BPF_ALU:
      case BPF_ALU64:
        return compute(step);
      case BPF_JMP:
      case BPF_JMP32:
        return jump(step);
      default:
        return false;
    }
  }

  bool load(const bpf_insn& step) {
    std::size_t size = 0;
    if (BPF_MODE(step.code) != BPF_MEM) return false;
    if (BPF_SIZE(step.code) == BPF_W) size = 4;
    if (BPF_SIZE(step.code) == BPF_H) size = 2;
    if (BPF_SIZE(step.code) == BPF_B) size = 1;
    if (size == 0 || registers_[step.src_reg] != kContext || step.off < 0) return false;
    const auto offset = static_cast<std::size_t>(step.off);
    if (offset + size > context_.size()) return false;
    std::uint32_t value = 0;
    std::memcpy(&value, context_.data() + offset, size);  // both supported architectures are little-endian
    registers_[step.dst_reg] = value;
    return true;
  }

  /// The second operand.
  std::uint64_t operand(const bpf_insn& step) const {
    if (BPF_SRC(step.code) == BPF_X) return registers_[step.src_reg];
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(step.imm));
  }

  bool compute(const bpf_insn& step) {
    const bool wide = BPF_CLASS(step.code) == BPF_ALU64;
    const std::uint64_t mask = wide ? ~std::uint64_t{0} : 0xffffffffU;
    std::uint64_t value = registers_[step.dst_reg] & mask;
    const std::uint64_t other = operand(step) & mask;
    switch (BPF_OP(step.code)) {
      case BPF_MOV:
        value = other;
        break;
      case BPF_AND:
        value &= other;
        break;
      case BPF_OR:
        value |= other;
        break;
      case BPF_ADD:
        value += other;
        break;
      case BPF_SUB:
        value -= other;
        break;
      case BPF_XOR:
        value ^= other;
        break;
      case BPF_LSH:
        value <<= other & (wide ? 63U : 31U);
        break;
      case BPF_RSH:
        value >>= other & (wide ? 63U : 31U);
        break;
      default:
        return false;
    }
    registers_[step.dst_reg] = value & mask;
    return true;
  }

  bool jump(const bpf_insn& step) {
    const std::uint64_t mask = BPF_CLASS(step.code) == BPF_JMP ? ~std::uint64_t{0} : 0xffffffffU;
    const std::uint64_t left = registers_[step.dst_reg] & mask;
    const std::uint64_t right = operand(step) & mask;
    bool taken = false;
    switch (BPF_OP(step.code)) {
      case BPF_JA:
        taken = true;
        break;
      case BPF_JEQ:
        taken = left == right;
        break;
      case BPF_JNE:
        taken = left != right;
        break;
      case BPF_JGT:
        taken = left > right;
        break;
      case BPF_JGE:
        taken = left >= right;
        break;
      case BPF_JLT:
        taken = left < right;
        break;
      case BPF_JLE:
        taken = left <= right;
        break;
      case BPF_JSET:
        taken = (left & right) != 0;
        break;
      default:
        return false;
    }
    if (!taken) return true;
    const auto target = static_cast<std::int64_t>(at_) + step.off;
    if (target < 0) return false;
    at_ = static_cast<std::size_t>(target);
    return true;
  }

  const DeviceProgram& program_;
  std::array<std::uint64_t, kRegisters> registers_{};
  std::array<unsigned char, sizeof(bpf_cgroup_dev_ctx)> context_{};
  std::size_t at_ = 0;
};

}  // namespace

std::string to_text(DeviceNumber number) { return std::to_string(number.major) + ":" + std::to_string(number.minor); }

bool list_allows(std::string_view list, DeviceNumber number) {
  return std::ranges::any_of(lines_of<std::string_view>(list), [&](std::string_view line) {
    const auto words = split<std::string_view>(trimmed(line), ' ');
    if (words.size() != 3 || (words[0] != "a" && words[0] != "c")) return false;
    const auto colon = words[1].find(':');
    if (colon == std::string_view::npos) return false;
    return matches(words[1].substr(0, colon), number.major) && matches(words[1].substr(colon + 1), number.minor) &&
           words[2].find('r') != std::string_view::npos && words[2].find('w') != std::string_view::npos;
  });
}

std::optional<bool> program_allows(const DeviceProgram& program, DeviceNumber number) {
  return Interpreter(program, number).run();
}

std::optional<bool> DeviceRules::allow(DeviceNumber number) const {
  if (list) return list_allows(*list, number);
  std::optional<bool> all = true;
  for (const DeviceProgram& program : programs) {
    const auto answer = program_allows(program, number);
    if (answer && !*answer) return false;  // one program that denies is enough
    if (!answer) all.reset();
  }
  return all;
}

}  // namespace slipway::toolkit
