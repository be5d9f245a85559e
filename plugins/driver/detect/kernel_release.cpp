// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/kernel_release.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "base/kernels/kernels.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kMaxTag = 128;
constexpr std::size_t kNumberWidth = 12;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// "6.1.0-50-amd64" -> numbers {6, 1, 0, 50} and flavour "amd64": what follows the last number field.
struct Parts {
  std::vector<long> numbers;
  std::string flavour;
};

Parts parts_of(std::string_view release) {
  Parts parts;
  std::size_t i = 0;
  while (i < release.size() && !is_alpha(release[i])) {
    if (!is_digit(release[i])) {
      ++i;
      continue;
    }
    long number = 0;
    for (std::size_t digits = 0; i < release.size() && is_digit(release[i]); ++i)
      if (digits++ < kNumberWidth) number = number * 10 + (release[i] - '0');
    parts.numbers.push_back(number);
  }
  parts.flavour = std::string{release.substr(i)};
  return parts;
}

std::vector<long> distance(const Parts& a, const Parts& b) {
  std::vector<long> steps(std::max(a.numbers.size(), b.numbers.size()));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const long left = i < a.numbers.size() ? a.numbers[i] : 0;
    const long right = i < b.numbers.size() ? b.numbers[i] : 0;
    steps[i] = std::abs(left - right);
  }
  return steps;
}

}  // namespace

std::vector<std::string> nearest_first(std::vector<std::string> releases, std::string_view wanted) {
  const Parts target = parts_of(wanted);
  const auto rank = [&](const std::string& release) {
    const Parts parts = parts_of(release);
    return std::tuple{parts.flavour != target.flavour, distance(parts, target), base::kernel_key(release)};
  };
  std::ranges::sort(releases, [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return releases;
}

std::string tag_form(std::string_view release) {
  std::string form{release};
  for (char& c : form) {
    const bool allowed = is_digit(c) || (is_alpha(c) && static_cast<unsigned char>(c) < 0x80) || c == '.' || c == '-';
    if (!allowed) c = '_';
  }
  return form;
}

std::string package_tag(std::string_view version, std::string_view kernel, std::string_view os,
                        std::string_view flavour) {
  std::string tag{version};
  for (const auto part : {kernel, os, flavour}) {
    if (part.empty()) continue;
    tag += '-';
    tag += tag_form(part);
  }
  return tag.substr(0, kMaxTag);
}

}  // namespace slipway::driver
