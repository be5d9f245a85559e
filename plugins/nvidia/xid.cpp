// SPDX-License-Identifier: Apache-2.0
#include "nvidia/xid.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <slipway/text.hpp>

namespace slipway::nvidia {
namespace {

constexpr std::chrono::seconds kLimit{10};

/// "python3[4711]: segfault at 0 … in FILE": the kernel puts the name of a program (15 bytes at most), its number, and
/// names of files there, all of which are anybody's choice.
bool begins_with_a_program(std::string_view line) {
  constexpr std::size_t kLongestName = 15;
  for (std::size_t at = line.find('['); at <= kLongestName; at = line.find('[', at + 1)) {
    const std::size_t end = line.find_first_not_of("0123456789", at + 1);
    if (end != std::string_view::npos && end > at + 1 && line[end] == ']') return true;
  }
  return false;
}

std::vector<std::string> messages_in(std::string_view text) {
  std::vector<std::string> messages;
  for (const std::string_view line : lines_of<std::string_view>(text))
    if (const std::string_view message = without_time(line); !message.empty() && !begins_with_a_program(message))
      messages.emplace_back(message);
  return messages;
}

/// "0000:65:00", "00000000:65:00.0"
bool is_pci_place(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  const auto takes = [&](std::size_t least, std::size_t most) {
    const std::size_t digits = std::min(text.find_first_not_of(kHex), text.size());
    text.remove_prefix(digits);
    return digits >= least && digits <= most;
  };
  const auto colon = [&] {
    const bool is_there = text.starts_with(':');
    if (is_there) text.remove_prefix(1);
    return is_there;
  };
  if (!takes(4, 8) || !colon() || !takes(2, 2) || !colon() || !takes(2, 2)) return false;
  return text.empty() || (text.size() == 2 && text[0] == '.' && text[1] >= '0' && text[1] <= '7');
}

}  // namespace

std::optional<Xid> parse_xid(std::string_view line) {
  constexpr std::string_view kMark = "NVRM: Xid (PCI:";
  line = without_time(line);
  if (!line.starts_with(kMark)) return std::nullopt;
  line.remove_prefix(kMark.size());
  const std::size_t end = line.find("): ");
  if (end == std::string_view::npos) return std::nullopt;
  Xid xid;
  // On a GPU in MIG mode: "0000:65:00 GPU-I:07 GPU-CI:00".
  const std::string_view place = line.substr(0, end);
  xid.address = place.substr(0, place.find(' '));
  if (!is_pci_place(xid.address)) return std::nullopt;
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
  std::size_t end = line.find(']');
  const std::string_view time = line.substr(1, end == std::string_view::npos ? 0 : end - 1);
  if (time.find('.') == std::string_view::npos || time.find_first_not_of(" .0123456789") != std::string_view::npos)
    return line;
  line.remove_prefix(end + 1);
  end = line.find(']');  // "[   12.345678][ T1234] ", where the kernel tells who wrote
  if (line.starts_with('[') && end != std::string_view::npos && line.find_first_not_of(" TC0123456789", 1) == end)
    line.remove_prefix(end + 1);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
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
