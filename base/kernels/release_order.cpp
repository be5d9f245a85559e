// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "base/kernels/kernels.hpp"

namespace slipway::base {
namespace {

constexpr std::size_t kPaddedDigits = 12;

bool is_number(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<std::string> kernel_key(std::string_view release) {
  std::vector<std::string> key;
  for (std::size_t i = 0; i < release.size();) {
    const std::size_t begin = i;
    while (i < release.size() && is_number(release[i]) == is_number(release[begin])) ++i;
    std::string part{release.substr(begin, i - begin)};
    if (is_number(part[0]) && part.size() < kPaddedDigits) part.insert(0, kPaddedDigits - part.size(), '0');
    key.push_back(std::move(part));
  }
  return key;
}

void sort_newest_first(std::vector<std::string>& releases) {
  std::ranges::sort(releases, [](const auto& a, const auto& b) { return kernel_key(b) < kernel_key(a); });
}

}  // namespace slipway::base
