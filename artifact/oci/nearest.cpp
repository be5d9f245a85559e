// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "artifact/oci/digest.hpp"

namespace slipway::artifact {
namespace {

constexpr std::size_t kNamed = 5;

std::size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(const std::string& wanted, std::vector<std::string> names, std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& name : names) ranked.emplace_back(edit_distance(wanted, name), std::move(name));
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min(ranked.size(), count));
  std::vector<std::string> nearest;
  for (auto& [distance, name] : ranked) nearest.push_back(std::move(name));
  return nearest;
}

Error no_such_tag(const std::string& source, const std::string& tag, const std::vector<std::string>& tags) {
  Error error{.code = ErrorCode::not_found,
              .what = source + " has no tag '" + tag + "'",
              .where = source,
              .next = tags.empty() ? "push the package first, or name another repository" : "write one of these tags"};
  std::string nearest;
  for (const std::string& name : nearest_names(tag, tags, kNamed)) nearest += (nearest.empty() ? "" : "\n") + name;
  error.details.emplace_back("there are", nearest.empty() ? "no tags at all" : nearest);
  if (tags.size() > kNamed) error.details.emplace_back("and", std::to_string(tags.size() - kNamed) + " more");
  return error;
}

}  // namespace slipway::artifact
