// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/xid_log.hpp"

#include <algorithm>

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::minutes kMinute{1};

XidLog::Line line_of(const std::string& place, unsigned number, XidEffect effect, const std::string& more) {
  const bool counts = effect != XidEffect::none;
  return {counts ? "warning" : "info", place + ": XID " + std::to_string(number) + more + (counts ? "" : ": ignored")};
}

}  // namespace

std::vector<XidLog::Line> XidLog::add(const std::string& place, unsigned number, XidEffect effect, Moment now) {
  std::vector<Line> lines = take(now);
  const auto [found, first] = counts_.try_emplace({place, number}, Count{.since = now});
  found->second.effect = effect;
  if (first)
    lines.push_back(line_of(place, number, effect, ""));
  else
    ++found->second.more;
  return lines;
}

std::vector<XidLog::Line> XidLog::take(Moment now) {
  std::vector<Line> lines;
  for (auto each = counts_.begin(); each != counts_.end();) {
    auto& [key, count] = *each;
    const bool over = now - count.since >= kMinute;
    if (over && count.more != 0)
      lines.push_back(
          line_of(key.first, key.second, count.effect, ", " + std::to_string(count.more) + " more within a minute"));
    const bool forget = over && count.more == 0;
    if (over) count = {.since = now, .effect = count.effect};
    each = forget ? counts_.erase(each) : std::next(each);
  }
  return lines;
}

Moment XidLog::due() const {
  Moment due = Moment::max();
  for (const auto& [key, count] : counts_) due = std::min(due, count.since + kMinute);
  return due;
}

}  // namespace slipway::deviceplugin
