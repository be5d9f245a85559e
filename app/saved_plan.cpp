// SPDX-License-Identifier: Apache-2.0
#include "app/saved_plan.hpp"

#include <map>
#include <set>

#include <slipway/action/difference.hpp>
#include <slipway/text/secret_name.hpp>

namespace slipway::app {
namespace {

constexpr std::size_t kMostDifferences = 12;
constexpr std::size_t kLongestValue = 60;

using Details = std::vector<std::pair<std::string, std::string>>;

std::string text_of(const Json& value, const std::string& name) {
  const Json found = member(value, name);
  return found.is_string() ? found.get<std::string>() : "";
}

std::string shown(const Json& value) {
  if (value.is_null()) return "not set";
  const std::string text = canonical(value);
  if (text.size() > kLongestValue) return "another value";
  const bool plain = value.is_string() && text.find('\\') == std::string::npos && text.size() > 2;
  return plain ? value.get<std::string>() : text;
}

/// Adds the keys of the spec whose values differ from those at the time of the plan.
void compare_keys(const Json& before, const Json& after, const std::string& key, Details& details) {
  if (before == after) return;
  std::set<std::string> names;
  for (const Json* side : {&before, &after})
    if (side->is_object())
      for (const auto& [name, value] : side->items()) names.insert(name);
  const auto may_have_keys = [](const Json& value) { return value.is_object() || value.is_null(); };
  if (names.empty() || !may_have_keys(before) || !may_have_keys(after)) {
    details.emplace_back(
        "spec", is_secret_key(key) ? key + " has changed" : key + " was " + shown(before) + ", is " + shown(after));
    return;
  }
  for (const std::string& name : names)
    compare_keys(member(before, name), member(after, name), key.empty() ? name : key + "." + name, details);
}

std::string item_name(const Json& item) {
  const Json action = member(item, "action");
  const Json removal = member(item, "removal");
  return (removal.is_boolean() && removal.get<bool>() ? "removal of " : "") + text_of(action, "kind") + " " +
         text_of(action, "target");
}

std::string standing_of(const Json& item) {
  constexpr const char* kNames[]{"as it should be", "to be changed", "a kept edit", "left to the next boot",
                                 "in conflict"};
  const Json standing = member(item, "standing");
  const int number = standing.is_number_integer() ? standing.get<int>() : -1;
  return number >= 0 && number < static_cast<int>(std::size(kNames)) ? kNames[number] : "unknown";
}

std::map<std::string, Json> items_of(const Json& component) {
  std::map<std::string, Json> items;
  const Json list = member(component, "items");
  if (list.is_array())
    for (const Json& item : list) items[item_name(item)] = item;
  return items;
}

std::string how_it_differs(const Json& before, const Json& after) {
  const std::string changes = action_difference(member(before, "action"), member(after, "action"));
  return changes.empty() ? " differs in whether an edit is kept" : " differs: " + changes;
}

void compare_items(const std::string& name, const Json& before, const Json& after, Details& details) {
  const auto earlier = items_of(before);
  const auto now = items_of(after);
  for (const auto& [key, item] : earlier) {
    const auto found = now.find(key);
    if (found == now.end())
      details.emplace_back(name, key + " is no longer part of the plan");
    else if (standing_of(item) != standing_of(found->second))
      details.emplace_back(name, key + " was " + standing_of(item) + ", is " + standing_of(found->second));
    else if (item != found->second)
      details.emplace_back(name, key + how_it_differs(item, found->second));
  }
  for (const auto& [key, item] : now)
    if (!earlier.contains(key)) details.emplace_back(name, key + " is new");
}

/// Describes a plan's states, to distinguish them from those of an apply.
std::string state_words(const std::string& state) {
  if (state == core::to_string(core::ComponentState::changed)) return "to be changed";
  return state == core::to_string(core::ComponentState::ready) ? "as it should be" : state;
}

std::map<std::string, Json> components_of(const Json& identity) {
  std::map<std::string, Json> components;
  const Json list = member(identity, "components");
  if (list.is_array())
    for (const Json& component : list) components[text_of(component, "name")] = component;
  return components;
}

void compare_components(const Json& saved, const Json& fresh, Details& details) {
  const auto earlier = components_of(saved);
  const auto now = components_of(fresh);
  for (const auto& [name, component] : earlier) {
    const auto found = now.find(name);
    if (found == now.end()) {
      details.emplace_back(name, "is no longer in the plan");
      continue;
    }
    const std::string was = text_of(component, "state");
    const std::string is = text_of(found->second, "state");
    if (was != is) details.emplace_back(name, "was " + state_words(was) + ", is " + state_words(is));
    compare_items(name, component, found->second, details);
  }
  for (const auto& [name, component] : now)
    if (!earlier.contains(name)) details.emplace_back(name, "is new in the plan");
}

Details differences(const Json& saved, const Json& fresh) {
  Details details;
  for (const char* part : {"metadata", "spec"})
    compare_keys(member(member(saved, "spec"), part), member(member(fresh, "spec"), part), "", details);
  for (const char* beside : {"kernel", "pending"})
    if (member(saved, beside) != member(fresh, beside))
      details.emplace_back(beside, "was " + shown(member(saved, beside)) + ", is " + shown(member(fresh, beside)));
  compare_components(saved, fresh, details);
  if (details.size() > kMostDifferences) {
    const std::size_t more = details.size() - kMostDifferences;
    details.resize(kMostDifferences);
    details.emplace_back("besides", std::to_string(more) + " more");
  }
  return details;
}

}  // namespace

Json plan_identity(const core::PlannedRun& run) {
  Json components = Json::array();
  for (const core::PlannedComponent& component : run.components) {
    Json items = Json::array();
    for (const core::PlannedItem& item : component.items) {
      items.push_back({{"action", item.action.json()},
                       {"removal", item.removal},
                       {"standing", static_cast<int>(item.check.standing)}});
      if (item.replaces) items.back()["replaces"] = item.replaces->state;
      if (!item.restored_generation.empty()) items.back()["brings_back"] = item.restored_generation;
    }
    components.push_back({{"name", component.name}, {"state", core::to_string(component.state)}, {"items", items}});
  }
  return {{"components", components}, {"kernel", run.kernel}, {"pending", run.pending}, {"spec", run.spec.document}};
}

Status check_saved_plan(const std::optional<Json>& saved, const core::PlannedRun& run) {
  if (!saved) return {};
  const Json fresh = plan_identity(run);
  if (*saved == fresh) return {};
  return Error{ErrorCode::conflict, "the saved plan is out of date: this host or its sources have changed since",
               run.spec.file, "make a new plan with `slipway plan -o json`, look at it, and apply it",
               differences(*saved, fresh)};
}

Json member(const Json& value, const std::string& name) {
  return value.is_object() ? value.value(name, Json{}) : Json{};
}

}  // namespace slipway::app
