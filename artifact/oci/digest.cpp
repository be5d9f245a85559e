// SPDX-License-Identifier: Apache-2.0
#include "artifact/oci/digest.hpp"

#include <algorithm>

#include <slipway/text.hpp>

namespace slipway::artifact {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr std::size_t kHexLength = 64;
constexpr std::size_t kShortHexLength = 12;
constexpr std::size_t kNamedTags = 5;

}  // namespace

bool is_digest(std::string_view text) {
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + kHexLength) return false;
  return text.substr(kPrefix.size()).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view hex_of(std::string_view digest) { return digest.substr(std::min(kPrefix.size(), digest.size())); }

std::string short_digest(std::string_view digest) {
  return std::string(digest.substr(0, is_digest(digest) ? kPrefix.size() + kShortHexLength : digest.size()));
}

Error no_such_tag(const std::string& source, const std::string& tag, const std::vector<std::string>& tags) {
  Error error{.code = ErrorCode::not_found,
              .what = source + " has no tag '" + tag + "'",
              .where = source,
              .next = tags.empty() ? "push the package first, or name another repository" : "write one of these tags"};
  const std::string nearest = joined(nearest_words(tag, tags, kNamedTags), "\n");
  error.details.emplace_back("there are", nearest.empty() ? "no tags at all" : nearest);
  if (tags.size() > kNamedTags) error.details.emplace_back("and", std::to_string(tags.size() - kNamedTags) + " more");
  return error;
}

}  // namespace slipway::artifact
