// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/purity.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <slipway/action/difference.hpp>
#include <slipway/text.hpp>

namespace slipway::plugin_check {
namespace {

constexpr const char* kPurePlan =
    "plan() may use only its three arguments: a value of the machine that it needs has to be a fact that detect() "
    "reads through the Host";
constexpr const char* kPureDetect =
    "detect() may read the machine through its Host only; a value that changes by itself has to be set with "
    "set_volatile(), or left out";
constexpr std::size_t kShown = 4;

/// A changed value of one thing that a plugin must not depend on.
struct Variant {
  std::string name;
  std::vector<std::string> environment;
};

std::vector<Variant> variants(const std::string& folder) {
  return {{"the variable TZ", {"TZ=Pacific/Chatham"}},
          {"the variable HOME", {"HOME=" + folder + "/other-home"}},
          {"the language (LANG, LC_ALL)", {"LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8"}},
          {"the user's name (USER, LOGNAME)", {"USER=other-user", "LOGNAME=other-user"}},
          {"the variable HOSTNAME", {"HOSTNAME=elsewhere"}}};
}

/// Returns the plan's actions that differ, or are only in one of the two: with the keys that differ.
std::set<std::string> differing_actions(const TrialRun& one, const TrialRun& other,
                                        const std::vector<std::string>& components) {
  const auto by_name = [&](const TrialRun& run) {
    std::map<std::string, Json> all;
    for (const Json& action : items_of(run.result, components).actions)
      all[action.value("kind", "") + " " + action.value("target", "")] = action;
    return all;
  };
  const auto first = by_name(one);
  const auto second = by_name(other);
  std::set<std::string> names;
  for (const auto& [name, action] : first) {
    const auto same = second.find(name);
    if (same == second.end())
      names.insert(name + " (in only one of them)");
    else if (const std::string changes = action_difference(action, same->second); !changes.empty())
      names.insert(name + " (" + changes + ")");
  }
  for (const auto& [name, action] : second)
    if (!first.contains(name)) names.insert(name + " (in only one of them)");
  return names;
}

/// Returns "COMPONENT: NAME" of the facts that differ; ignores volatile ones.
std::set<std::string> differing_facts(const TrialRun& one, const TrialRun& other,
                                      const std::vector<std::string>& components) {
  std::set<std::string> names;
  for (const std::string& component : components) {
    const auto of = [&](const TrialRun& run) {
      Json facts = run.result.value("components", Json::object()).value(component, Json::object());
      Json values = facts.value("values", Json::object());
      for (const Json& name : facts.value("volatile", Json::array())) values.erase(name.get<std::string>());
      values["(whether it applies)"] = facts.value("applicable", Json());
      return values;
    };
    const Json first = of(one);
    const Json second = of(other);
    for (const Json* side : {&first, &second})
      for (const auto& [name, value] : side->items())
        if (first.value(name, Json()) != second.value(name, Json()))
          names.insert(component + ": " +
                       action_difference({{name, first.value(name, Json())}}, {{name, second.value(name, Json())}}));
  }
  return names;
}

std::string listing(const std::set<std::string>& names) {
  return first_few(std::vector<std::string>(names.begin(), names.end()), kShown);
}

/// The results of detect and plan under a variant of the environment.
struct VariantResults {
  std::set<std::string> facts;
  std::set<std::string> actions;
};

Result<VariantResults> look_under(const PurityTrial& trial, const std::vector<std::string>& environment) {
  SLIPWAY_TRY(detected, trial.host.with(environment).detect());
  SLIPWAY_TRY(planned, trial.host.with(environment).plan());
  return VariantResults{differing_facts(trial.detected, detected, trial.components),
                        differing_actions(trial.planned, planned, trial.components)};
}

}  // namespace

Result<std::vector<Impurity>> impurities(const PurityTrial& trial) {
  std::vector<Impurity> found;
  SLIPWAY_TRY(again, look_under(trial, {}));
  if (!again.facts.empty())
    found.push_back(
        {"detect", "detect finds different facts when it runs twice: " + listing(again.facts), kPureDetect});
  if (!again.actions.empty())
    found.push_back(
        {"plan", "two plans for the same host differ: " + listing(again.actions),
         std::string(kPurePlan) + "; plan() may use no clock, no random numbers and no unordered containers"});
  if (!found.empty()) return found;

  const auto each = variants(trial.folder);
  std::vector<std::string> everything;
  for (const Variant& variant : each)
    everything.insert(everything.end(), variant.environment.begin(), variant.environment.end());
  SLIPWAY_TRY(all, look_under(trial, everything));
  if (all.facts.empty() && all.actions.empty()) return found;
  for (const Variant& variant : each) {
    SLIPWAY_TRY(one, look_under(trial, variant.environment));
    if (!one.facts.empty())
      found.push_back({"detect", "detect depends on " + variant.name + ": " + listing(one.facts), kPureDetect});
    if (!one.actions.empty())
      found.push_back({"plan", "the plan depends on " + variant.name + ": " + listing(one.actions), kPurePlan});
  }
  return found;
}

}  // namespace slipway::plugin_check
