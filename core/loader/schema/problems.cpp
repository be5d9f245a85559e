// SPDX-License-Identifier: Apache-2.0
#include "core/loader/schema/problems.hpp"

#include <algorithm>
#include <tuple>

namespace slipway::core {

void Problems::add(base::Position position, const std::string& key, std::string what, std::string next) {
  std::string where = base::to_text(file_, position);
  if (!key.empty()) where += "  " + key;
  errors_.push_back({position, Error{ErrorCode::invalid, std::move(what), std::move(where), std::move(next), {}}});
}

Error Problems::to_error() const {
  std::vector<Entry> sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.position.line, a.position.column) < std::tie(b.position.line, b.position.column);
  });
  Error first = sorted.front().error;
  for (std::size_t i = 1; i < std::min(sorted.size(), kShown); ++i)
    first.details.emplace_back("also", base::to_text(file_, sorted[i].position) + ": " + sorted[i].error.what);
  if (sorted.size() > kShown) first.details.emplace_back("also", std::to_string(sorted.size() - kShown) + " more");
  return first;
}

}  // namespace slipway::core
