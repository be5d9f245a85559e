// SPDX-License-Identifier: Apache-2.0
#include "nvidia/xid.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

#include <slipway/json.hpp>
#include <slipway/text.hpp>

#include "base/kernels/kernel_log.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::nvidia {
namespace {

constexpr std::chrono::seconds kLimit{10};

/// Escapes like the kernel in /dev/kmsg: other bytes than printable ones become "\\x0a", so that a message is one line.
std::string escaped(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (byte >= 0x20 && byte < 0x7f && c != '\\')
      line += c;
    else
      line.append("\\x").append(1, kDigits[byte / 16]).append(1, kDigits[byte % 16]);
  }
  return line;
}

/// Skips the rest of a line whose beginning was dropped as too old.
std::string_view whole_lines(const ProcessOutput& output) {
  const std::string_view text = output.output;
  return output.truncated ? text.substr(std::min(text.find('\n'), text.size())) : text;
}

std::vector<std::string> messages_of_records(std::string_view records) {
  std::vector<std::string> messages;
  for (const std::string_view line : lines_of<std::string_view>(records))
    if (const auto message = base::kernel_message(line); message && !message->empty()) messages.emplace_back(*message);
  return messages;
}

/// Reads the form of `journalctl -o json`: a message with bytes that are not text is a list of numbers.
std::string message_of(const Json& field) {
  if (field.is_string()) return escaped(field.get_ref<const std::string&>());
  std::string bytes;
  if (field.is_array())
    for (const Json& byte : field)
      if (byte.is_number_unsigned()) bytes += static_cast<char>(byte.get<std::uint64_t>());
  return escaped(bytes);
}

std::vector<std::string> messages_of_journal(std::string_view lines) {
  std::vector<std::string> messages;
  for (const std::string_view line : lines_of<std::string_view>(lines)) {
    const Json entry = parse_foreign(line);
    if (!entry.is_object() || entry.value("SYSLOG_FACILITY", Json()) != Json("0")) continue;
    std::string message = message_of(entry.value("MESSAGE", Json()));
    if (!message.empty() && !base::names_a_program(message)) messages.push_back(std::move(message));
  }
  return messages;
}

/// Converts "0000:65:00" and "00000000:65:00.0" to the form of sysfs; empty: not an address.
std::string pci_address_of(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  const std::string_view whole = text;
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
  if (!takes(4, 8) || !colon() || !takes(2, 2) || !colon() || !takes(2, 2)) return {};
  const bool has_function = text.size() == 2 && text[0] == '.' && text[1] >= '0' && text[1] <= '7';
  if (!text.empty() && !has_function) return {};
  return pci_place(whole) + (has_function ? std::string(text) : ".0");
}

constexpr std::string_view kFallen = "fallen off the bus";
constexpr unsigned kFallenXid = 79;

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
  xid.address = pci_address_of(place.substr(0, place.find(' ')));
  if (xid.address.empty()) return std::nullopt;
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

std::optional<Xid> parse_fallen_gpu(std::string_view line) {
  line = without_time(line);
  for (const std::string_view mark : {"NVRM: GPU ", "NVRM: The NVIDIA GPU "}) {
    if (!line.starts_with(mark)) continue;
    const std::string_view rest = line.substr(mark.size());
    std::string_view place = rest.substr(0, rest.find(' '));
    if (place.ends_with(':')) place.remove_suffix(1);
    std::string address = pci_address_of(place);
    if (address.empty() || rest.find(kFallen) == std::string_view::npos) return std::nullopt;
    return Xid{.number = kFallenXid, .address = std::move(address), .instance = {}, .text = std::string(rest)};
  }
  return std::nullopt;
}

std::optional<SwitchXid> parse_switch_xid(std::string_view line) {
  constexpr std::string_view kMark = ": SXid (PCI:";
  line = without_time(line);
  const std::size_t mark = line.find(kMark);
  if (!line.starts_with("nvidia-nvswitch") || mark == std::string_view::npos || line.find(' ') != mark + 1)
    return std::nullopt;
  line.remove_prefix(mark + kMark.size());
  const std::size_t end = line.find("): ");
  if (end == std::string_view::npos) return std::nullopt;
  SwitchXid xid{.number = 0, .address = pci_address_of(line.substr(0, end)), .fatal = false, .text = {}};
  if (xid.address.empty()) return std::nullopt;
  line.remove_prefix(end + 3);
  const auto [rest, problem] = std::from_chars(line.data(), line.data() + line.size(), xid.number);
  if (problem != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
  line.remove_prefix(std::min(line.find_first_not_of(", "), line.size()));
  xid.fatal = line.starts_with("Fatal");
  xid.text = line;
  return xid;
}

std::vector<std::string> fallen_gpus(const std::vector<std::string>& log) {
  constexpr std::string_view kBegin = "NVRM: The NVIDIA GPU ";
  constexpr std::size_t kLines = 3;
  std::vector<std::string> fallen;
  std::vector<std::string> told;
  const auto add = [&fallen](std::string address) {
    if (!address.empty() && std::ranges::find(fallen, address) == fallen.end()) fallen.push_back(std::move(address));
  };
  for (std::size_t i = 0; i < log.size(); ++i) {
    const std::string_view line = without_time(log[i]);
    if (const auto xid = parse_xid(line); xid && xid->number == kFallenXid) told.push_back(xid->address);
    if (const auto xid = parse_fallen_gpu(line)) {
      add(xid->address);
    } else if (line.starts_with(kBegin)) {
      std::string_view place = line.substr(kBegin.size());
      place = place.substr(0, place.find_first_of(" \\"));
      if (line.find("\\x0aNVRM: fallen off the bus") != std::string_view::npos) add(pci_address_of(place));
      for (std::size_t next = i + 1; next < std::min(i + kLines, log.size()); ++next)
        if (without_time(log[next]).starts_with("NVRM: fallen off the bus")) add(pci_address_of(place));
    }
  }
  std::erase_if(fallen, [&](const std::string& address) { return std::ranges::find(told, address) != told.end(); });
  return fallen;
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
  end = line.find(']');  // "[   12.345678][ T1234] ", if the kernel prints the caller
  if (line.starts_with('[') && end != std::string_view::npos && line.find_first_not_of(" TC0123456789", 1) == end)
    line.remove_prefix(end + 1);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

std::optional<std::vector<std::string>> read_kernel_log(const Host& host) {
  // Each read returns one record, until it would block: then it ends with an error.
  const auto records = host.run({"dd", "if=/dev/kmsg", "iflag=nonblock", "bs=8192", "status=none"}, kLimit);
  if (records && !records->output.empty()) return messages_of_records(whole_lines(*records));
  const auto journal = host.run(
      {"journalctl", "-k", "-b", "--no-pager", "--lines=3000", "-o", "json", "--output-fields=MESSAGE,SYSLOG_FACILITY"},
      kLimit);
  if (journal && journal->exit_status == 0) return messages_of_journal(whole_lines(*journal));
  return std::nullopt;
}

}  // namespace slipway::nvidia
