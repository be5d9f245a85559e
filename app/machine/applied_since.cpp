// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "app/machine/facts.hpp"

namespace slipway::app {
namespace {

constexpr std::size_t kMostChanges = 16;
constexpr std::size_t kMostEvents = 10'000;  // the author of a root may have written any number of events

/// Returns a member of untrusted JSON; null if it is missing. Copies nothing, since the value may be large.
const Json* at(const Json* value, std::string_view name) {
  if (value == nullptr || !value->is_object()) return nullptr;
  const auto found = value->find(name);
  return found == value->end() ? nullptr : &*found;
}

bool are_equal(const Json* one, const Json* other) {
  return one == nullptr || other == nullptr ? one == other : *one == *other;
}

/// True when the component is applied in the same way in both.
bool is_the_same(const core::Generation& one, const core::Generation& other, const std::string& component) {
  const auto section = [&](const core::Generation& each) {
    return at(at(at(&each.spec, "spec"), "components"), component);
  };
  const auto lock = [&](const core::Generation& each) { return at(at(&each.lock, "components"), component); };
  return are_equal(section(one), section(other)) && are_equal(lock(one), lock(other)) &&
         are_equal(at(&one.plugins, component), at(&other.plugins, component));
}

/// Returns the final state of each component that an event names; nothing for an event without results.
std::optional<std::map<std::string, std::string>> states_of(const Json& event) {
  const Json* const components = at(&event, "components");
  if (components == nullptr || !components->is_array()) return std::nullopt;  // an apply begins, or failed as a whole
  std::map<std::string, std::string> states;
  for (const Json& each : *components) {
    const Json* const name = at(&each, "name");
    const Json* const state = at(&each, "state");
    if (name != nullptr && name->is_string() && state != nullptr && state->is_string()) states[*name] = *state;
  }
  return states;
}

/// True when the event is from an apply that did not include the component.
bool passes_over(const Json& event, const std::string& component) {
  const Json* const only = at(&event, "only");
  return only != nullptr && only->is_array() && std::ranges::find(*only, Json(component)) == only->end();
}

}  // namespace

std::map<std::string, std::string> applied_since(const core::StateDir& state, const core::Generation& current) {
  std::map<std::string, std::string> since;
  for (const auto& [component, plugin] : current.plugins.items()) since[component] = current.time;
  std::map<std::string, std::string> open = since;
  core::Generation earlier = current;
  while (!open.empty() && earlier.before > 0 && earlier.before < earlier.number) {
    auto before = state.generation(earlier.before);
    if (!before) break;
    std::erase_if(open, [&](const auto& each) { return !is_the_same(*before, current, each.first); });
    for (const auto& [component, time] : open) since[component] = before->time;
    earlier = std::move(*before);
  }
  return since;
}

std::map<std::string, std::string> failing_since(const std::vector<Json>& events, const Json& failing) {
  std::map<std::string, std::string> since;
  std::map<std::string, std::string> open;  // by component, the state to look for
  for (const auto& [name, record] : failing.items()) open[name] = record.value("state", "");
  std::size_t seen = 0;
  for (auto event = events.rbegin(); event != events.rend() && !open.empty() && seen < kMostEvents; ++event, ++seen) {
    const auto states = states_of(*event);
    if (!states) continue;
    const Json* const time = at(&*event, "time");
    std::erase_if(open, [&](const auto& each) {
      const auto found = states->find(each.first);
      if (found == states->end()) return !passes_over(*event, each.first);
      if (found->second != each.second) return true;
      if (time != nullptr && time->is_string()) since[each.first] = time->get<std::string>();
      return false;
    });
  }
  return since;
}

Json put_back(const std::vector<Json>& events, const std::string& component, const std::string& boot_id) {
  std::set<std::string> applies;  // the ids of applies that began in this boot
  Json found;
  for (const Json& event : events) {
    const std::string id = canonical(event.value("id", Json()));
    if (event.value("event", Json()) == "begin") {
      if (event.value("boot", Json()) == true && event.value("only", Json()) == Json{component} &&
          event.value("boot_id", Json()) == boot_id && applies.size() < kMostEvents)
        applies.insert(id);
      continue;
    }
    const Json* const components = applies.contains(id) ? at(&event, "components") : nullptr;
    if (components == nullptr || !components->is_array() || components->empty()) continue;
    const Json& first = components->front();
    const Json* const changes = at(&first, "changes");
    if (!first.is_object() || changes == nullptr || !changes->is_array() || changes->empty()) continue;
    if (first.value("name", Json()) != component) continue;
    if (found.is_null()) found = {{"times", 0}};
    found["times"] = found["times"].get<int>() + 1;
    const Json* const time = at(&event, "time");
    found["last"] = time != nullptr && time->is_string() ? *time : Json("");
    found["changes"] = Json::array();
    for (const Json& change : *changes)
      if (change.is_string() && found["changes"].size() < kMostChanges) found["changes"].push_back(change);
  }
  return found;
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

}  // namespace slipway::app
