// SPDX-License-Identifier: Apache-2.0
#include "base/kernels/kernel_log.hpp"

#include <charconv>

namespace slipway::base {

std::optional<std::string_view> kernel_message(std::string_view line) {
  constexpr unsigned kLevels = 8;  // the number is the facility times these, plus the level
  unsigned number = 0;
  const std::size_t head = line.find(';');
  if (head == std::string_view::npos) return std::nullopt;
  const auto [end, problem] = std::from_chars(line.data(), line.data() + head, number);
  if (problem != std::errc{} || *end != ',' || number >= kLevels) return std::nullopt;
  line.remove_prefix(head + 1);
  if (names_a_program(line)) return std::nullopt;
  return line;
}

bool names_a_program(std::string_view message) {
  constexpr std::size_t kLongestName = 15;
  for (std::size_t at = message.find('['); at <= kLongestName; at = message.find('[', at + 1)) {
    const std::size_t end = message.find_first_not_of("0123456789", at + 1);
    if (end != std::string_view::npos && end > at + 1 && message[end] == ']') return true;
  }
  return false;
}

}  // namespace slipway::base
