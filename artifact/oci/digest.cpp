// SPDX-License-Identifier: Apache-2.0
#include "artifact/oci/digest.hpp"

#include <algorithm>

namespace slipway::artifact {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr std::size_t kHexLength = 64;
constexpr std::size_t kShortHexLength = 12;

}  // namespace

bool is_digest(std::string_view text) {
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + kHexLength) return false;
  return text.substr(kPrefix.size()).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view hex_of(std::string_view digest) { return digest.substr(std::min(kPrefix.size(), digest.size())); }

std::string short_digest(std::string_view digest) {
  return std::string(digest.substr(0, is_digest(digest) ? kPrefix.size() + kShortHexLength : digest.size()));
}

}  // namespace slipway::artifact
