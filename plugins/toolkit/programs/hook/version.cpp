// SPDX-License-Identifier: Apache-2.0
#include "version.hpp"

#include <charconv>

namespace slipway::hook {

std::optional<std::vector<unsigned>> parse_version(std::string_view text) {
  std::vector<unsigned> numbers;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    unsigned number = 0;
    const auto [next, problem] = std::from_chars(at, end, number);
    if (problem != std::errc()) return {};
    numbers.push_back(number);
    if (next == end) return numbers;
    if (*next != '.') return {};
    at = next + 1;
  }
}

}  // namespace slipway::hook
