// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <slipway/text.hpp>

#include "nvidia/xid.hpp"

namespace slipway::nvidia {
namespace {

constexpr std::chrono::seconds kLimit{10};

std::vector<std::string> messages_in(std::string_view text) {
  std::vector<std::string> messages;
  for (const std::string_view line : lines_of<std::string_view>(text))
    if (!line.empty()) messages.emplace_back(without_time(line));
  return messages;
}

}  // namespace

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
