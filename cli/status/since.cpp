// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "cli/render/render.hpp"
#include "cli/status/facts.hpp"

namespace slipway::core {
namespace {

/// What the component is applied as.
Json entry_of(const Generation& generation, const std::string& component) {
  return Json::array({member(member(member(generation.spec, "spec"), "components"), component),
                      member(member(generation.lock, "components"), component), member(generation.plugins, component)});
}

/// -1: the event says nothing of the component; 0: it ended in another state; 1: in this one.
int verdict_of(const Json& event, const std::string& component, const std::string& state) {
  const Json components = member(event, "components");
  if (!components.is_array()) return -1;  // it has only begun, or failed as a whole
  for (const Json& each : components)
    if (member(each, "name") == component) return member(each, "state") == state ? 1 : 0;
  const Json only = member(event, "only");
  return only.is_array() && std::ranges::count(only, Json(component)) == 0 ? -1 : 0;
}

}  // namespace

std::map<std::string, std::string> applied_since(const StateDir& state, const Generation& current) {
  std::map<std::string, std::string> since;
  for (const auto& [component, plugin] : current.plugins.items()) since[component] = current.time;
  std::map<std::string, std::string> open = since;
  Generation at = current;
  while (!open.empty() && at.before > 0 && at.before < at.number) {
    auto before = state.generation(at.before);
    if (!before) break;
    std::erase_if(open,
                  [&](const auto& each) { return entry_of(*before, each.first) != entry_of(current, each.first); });
    for (const auto& [component, time] : open) since[component] = before->time;
    at = std::move(*before);
  }
  return since;
}

std::string failing_since(const std::vector<Json>& events, const std::string& component, const std::string& state) {
  std::string since;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const int verdict = verdict_of(*event, component, state);
    if (verdict == 0) break;
    if (const Json time = member(*event, "time"); verdict == 1 && time.is_string()) since = time.get<std::string>();
  }
  return since;
}

std::string age_text(const std::string& since, std::time_t now) {
  std::tm parts{};
  const char* const end = ::strptime(since.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return "-";
  const std::time_t seconds = now - ::timegm(&parts);
  constexpr std::array<std::pair<std::time_t, const char*>, 3> kUnits{{{86400, " d"}, {3600, " h"}, {60, " min"}}};
  for (const auto& [length, unit] : kUnits)
    if (seconds >= length) return std::to_string(seconds / length) + unit;
  return "now";
}

}  // namespace slipway::core
