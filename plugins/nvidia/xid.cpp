// SPDX-License-Identifier: Apache-2.0
#include "nvidia/xid.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <slipway/text.hpp>

namespace slipway::nvidia {
namespace {

constexpr std::chrono::seconds kLimit{10};

std::vector<std::string> messages_in(std::string_view text) {
  std::vector<std::string> messages;
  for (const std::string_view line : lines_of<std::string_view>(text))
    if (!line.empty()) messages.emplace_back(without_time(line));
  return messages;
}

/// What the kernel said, without what dmesg and the journal put in front of it: "[   12.345678] ",
/// "Nov 26 09:00:01 node kernel: ". Further on in a line there may be names that others chose, as those of programs
/// that crash.
std::string_view message_of(std::string_view line) {
  constexpr std::string_view kKernel = "kernel: ";
  const std::size_t at = line.starts_with('[') ? std::string_view::npos : line.find(kKernel);
  const bool is_prefix = at != std::string_view::npos && line.substr(0, at).find(": ") == std::string_view::npos;
  if (is_prefix) line.remove_prefix(at + kKernel.size());
  if (!line.starts_with('[')) return line;
  const std::size_t end = line.find("] ");
  return end == std::string_view::npos ? line : line.substr(end + 2);
}

}  // namespace

std::optional<Xid> parse_xid(std::string_view line) {
  constexpr std::string_view kMark = "NVRM: Xid (PCI:";
  line = message_of(line);
  if (!line.starts_with(kMark)) return std::nullopt;
  line.remove_prefix(kMark.size());
  const std::size_t end = line.find("): ");
  if (end == std::string_view::npos) return std::nullopt;
  Xid xid;
  // On a GPU in MIG mode: "0000:65:00 GPU-I:07 GPU-CI:00".
  const std::string_view place = line.substr(0, end);
  xid.address = place.substr(0, place.find(' '));
  constexpr std::string_view kInstance = " GPU-I:";
  if (const std::size_t at = place.find(kInstance); at != std::string_view::npos) {
    unsigned instance = 0;
    const std::string_view digits = place.substr(at + kInstance.size());
    if (std::from_chars(digits.data(), digits.data() + digits.size(), instance).ec == std::errc{})
      xid.instance = instance;
  }
  line.remove_prefix(end + 3);
  const auto [rest, problem] = std::from_chars(line.data(), line.data() + line.size(), xid.number);
  if (problem != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
  const std::size_t text = line.find_first_not_of(", ");
  if (text != std::string_view::npos) xid.text = line.substr(text);
  return xid;
}

std::vector<XidCount> count_xids(const std::vector<std::string>& log) {
  std::vector<XidCount> counts;
  for (const std::string& line : log) {
    const auto xid = parse_xid(line);
    if (!xid) continue;
    const auto same = std::find_if(counts.begin(), counts.end(), [&](const XidCount& count) {
      return count.last.number == xid->number && count.last.address == xid->address &&
             count.last.instance == xid->instance;
    });
    if (same == counts.end())
      counts.push_back({*xid, 1});
    else
      *same = {*xid, same->times + 1};
  }
  return counts;
}

std::string_view without_time(std::string_view line) {
  if (!line.starts_with('[')) return line;
  const std::size_t end = line.find(']');
  if (end == std::string_view::npos || line.find_first_not_of(" .0123456789", 1) != end) return line;
  const std::size_t text = line.find_first_not_of(' ', end + 1);
  return text == std::string_view::npos ? std::string_view() : line.substr(text);
}

std::optional<std::vector<std::string>> read_kernel_log(const Host& host) {
  const std::vector<std::vector<std::string>> ways{{"dmesg"}, {"journalctl", "-k", "-b", "--no-pager", "-o", "cat"}};
  for (const auto& way : ways) {
    const auto output = host.run(way, kLimit);
    if (output && output->exit_status == 0) return messages_in(output->output);
  }
  return std::nullopt;
}

}  // namespace slipway::nvidia
