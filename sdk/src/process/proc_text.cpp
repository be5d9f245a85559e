// SPDX-License-Identifier: Apache-2.0
#include "slipway/process/proc_text.hpp"

#include <charconv>

#include <slipway/text.hpp>

namespace slipway {
namespace {

constexpr unsigned kKernelThread = 0x00200000;  // PF_KTHREAD of linux/sched.h

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name may have anything in it, ")" and spaces too, so what follows begins after the last ")".
  const auto begin = text.find('(');
  const auto end = text.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  const auto fields = split<std::string_view>(trimmed(text.substr(end + 1)), ' ');
  // Fields 3, 4, 6, 9, 20 and 22 of proc(5).
  constexpr std::size_t kState = 0, kParent = 1, kSession = 3, kFlags = 6, kThreads = 17, kStart = 19;
  if (fields.size() <= kStart || fields[kState].size() != 1) return std::nullopt;
  const auto parent = number_in<unsigned>(fields[kParent]);
  const auto flags = number_in<unsigned>(fields[kFlags]);
  const auto start = number_in<std::uint64_t>(fields[kStart]);
  if (!parent || !flags || !start) return std::nullopt;
  return ProcessStat{.name = std::string(text.substr(begin + 1, end - begin - 1)),
                     .state = fields[kState].front(),
                     .parent = *parent,
                     .session = number_in<unsigned>(fields[kSession]).value_or(0),
                     .kernel_thread = (*flags & kKernelThread) != 0,
                     .threads = number_in<std::uint64_t>(fields[kThreads]).value_or(0),
                     .start = *start};
}

std::vector<MountLine> parse_mounts(std::string_view text) {
  constexpr std::size_t kId = 0, kDevice = 2, kRoot = 3, kPlace = 4, kOptions = 5;
  constexpr std::string_view kEndOfOptional = " - ";
  std::vector<MountLine> mounts;
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    const std::size_t dash = line.find(kEndOfOptional);
    const auto words = split<std::string_view>(line.substr(0, dash), ' ');
    if (words.size() <= kPlace) continue;
    MountLine mount{.id = words[kId], .device = words[kDevice], .root = words[kRoot], .place = words[kPlace]};
    if (words.size() > kOptions) mount.options = words[kOptions];
    if (dash != std::string_view::npos) {
      const auto rest =
          split<std::string_view>(line.substr(dash + kEndOfOptional.size()), ' ');  // type, source, options
      if (!rest.empty()) mount.type = rest[0];
      if (rest.size() > 2) mount.super_options = rest[2];
    }
    mounts.push_back(mount);
  }
  return mounts;
}

std::string without_escapes(std::string_view text) {
  constexpr std::size_t kDigits = 3;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '\\' && i + kDigits < text.size() ? number_in<unsigned>(text.substr(i + 1, kDigits), 8)
                                                                   : std::nullopt;
    plain += code ? static_cast<char>(*code) : text[i];
    if (code) i += kDigits;
  }
  return plain;
}

}  // namespace slipway
