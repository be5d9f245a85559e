// SPDX-License-Identifier: Apache-2.0
#include "author/purity.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <slipway/action/difference.hpp>
#include <slipway/text.hpp>

namespace slipway::core {
namespace {

constexpr const char* kPurePlan =
    "plan() has three arguments and nothing else: what it needs of the machine is a fact, found through the Host";
constexpr const char* kPureDetect =
    "detect() looks through its Host; what changes by itself is a fact of set_volatile(), or none";
constexpr std::size_t kShown = 4;
constexpr const char* kOfPlan = ".plan";  // behind the name of a log: what is used when there is planned

/// One thing that a plugin may not lean on, made different.
struct Variant {
  std::string name;
  std::vector<std::string> environment;
};

/// @param watched  the clock and the folder of a worker are changed by the watch
std::vector<Variant> variants(const PurityTrial& trial, const std::vector<std::string>& watched) {
  std::vector<Variant> all{{"the variable TZ", {"TZ=Pacific/Chatham"}},
                           {"the variable HOME", {"HOME=" + trial.folder + "/nobody"}},
                           {"the language (LANG, LC_ALL)", {"LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8"}},
                           {"the user's name (USER, LOGNAME)", {"USER=somebody", "LOGNAME=somebody"}},
                           {"the variable HOSTNAME", {"HOSTNAME=elsewhere"}}};
  if (watched.empty()) return all;
  Variant clock{"the clock", watched};
  clock.environment.emplace_back("SLIPWAY_WATCH_SHIFT=34567890");  // 400 days and some hours
  all.push_back(std::move(clock));
  Variant folder{"the working folder", watched};
  folder.environment.push_back("SLIPWAY_WATCH_FOLDER=" + trial.folder + "/tmp");
  all.push_back(std::move(folder));
  return all;
}

/// The plan's actions that are not the same in both, or only in one: with the keys that differ.
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
      names.insert(name + " (in one of them alone)");
    else if (const std::string changes = action_difference(action, same->second); !changes.empty())
      names.insert(name + " (" + changes + ")");
  }
  for (const auto& [name, action] : second)
    if (!first.contains(name)) names.insert(name + " (in one of them alone)");
  return names;
}

/// "COMPONENT: NAME" of the facts that are not the same in both; volatile ones take no part.
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

/// What detect and plan come to under a variant of the environment.
struct Looked {
  std::set<std::string> facts;
  std::set<std::string> actions;
};

Result<Looked> look_under(const PurityTrial& trial, const std::vector<std::string>& environment) {
  std::vector<std::string> of_plan = environment;
  for (std::string& entry : of_plan)
    if (entry.starts_with("SLIPWAY_WATCH_LOG=")) entry += kOfPlan;
  SLIPWAY_TRY(detected, trial.host.with(environment).detect());
  SLIPWAY_TRY(planned, trial.host.with(of_plan).plan());
  return Looked{differing_facts(trial.detected, detected, trial.components),
                differing_actions(trial.planned, planned, trial.components)};
}

/// Lines of the watch's log that begin with a word, without it.
std::set<std::string> logged(const std::string& log, const std::string& word) {
  std::set<std::string> all;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(word + " ")) all.insert(line.substr(word.size() + 1));
  return all;
}

/// By a detect, or by a plan, which begins with a detect of its own.
std::set<std::string> logged_by_either(const std::string& log, const std::string& word) {
  auto all = logged(log, word);
  all.merge(logged(log + kOfPlan, word));
  return all;
}

/// What detect finds by a variable is a fact; a plan has no such door.
void add_variables(const std::string& log, std::vector<Impurity>& found) {
  const auto detected = logged(log, "variable");
  auto planned = logged(log + kOfPlan, "variable");
  for (const std::string& name : detected) planned.erase(name);
  if (!planned.empty())
    found.push_back({"plan", "the plan reads variables of the environment: " + listing(planned), kPurePlan});
  if (!detected.empty())
    found.push_back({"host", "detect reads variables of the environment: " + listing(detected),
                     "they have to be set at each apply, and a boot and a service have none of the user's: what a user "
                     "may choose is a key of the spec, and a secret is one of type `secret`",
                     true});
}

void add_watched(const std::string& log, std::vector<Impurity>& found) {
  if (const auto files = logged_by_either(log, "file"); !files.empty())
    found.push_back({"host", "detect or plan looks at files past its Host: " + listing(files),
                     "read them through the Host (`host.read()`, `host.exists()`), in detect: the root may be an image "
                     "or a simulated machine, and these files are this machine's"});
  if (const auto programs = logged_by_either(log, "program"); !programs.empty())
    found.push_back({"host", "detect or plan runs programs past its Host: " + listing(programs),
                     "run them in detect with `host.run()`, which knows what can run in the root"});
}

}  // namespace

Result<std::vector<Impurity>> impurities(const PurityTrial& trial) {
  std::vector<Impurity> found;
  SLIPWAY_TRY(again, look_under(trial, {}));
  if (!again.facts.empty())
    found.push_back({"detect", "detect finds other facts each time: " + listing(again.facts), kPureDetect});
  if (!again.actions.empty())
    found.push_back({"plan", "two plans for the same host differ: " + listing(again.actions),
                     std::string(kPurePlan) + "; no clock, no random numbers, nothing unordered"});

  std::vector<std::string> watched;
  const std::string log = trial.folder + "/watch.log";
  if (!trial.watch.empty())
    watched = {"LD_PRELOAD=" + trial.watch, "SLIPWAY_WATCH_PLUGIN=" + trial.plugin, "SLIPWAY_WATCH_LOG=" + log,
               "SLIPWAY_WATCH_ALLOWED=" + trial.folder};
  const auto each = variants(trial, watched);
  std::vector<std::string> everything = watched;
  for (const Variant& variant : each)
    for (const std::string& entry : variant.environment)
      if (std::find(everything.begin(), everything.end(), entry) == everything.end()) everything.push_back(entry);
  SLIPWAY_TRY(all, look_under(trial, everything));
  const bool comparable = found.empty();
  add_watched(log, found);
  add_variables(log, found);
  if (!comparable) return found;
  if (all.facts.empty() && all.actions.empty()) return found;
  for (const Variant& variant : each) {
    SLIPWAY_TRY(one, look_under(trial, variant.environment));
    if (!one.facts.empty())
      found.push_back({"detect", "detect leans on " + variant.name + ": " + listing(one.facts), kPureDetect});
    if (!one.actions.empty())
      found.push_back({"plan", "the plan leans on " + variant.name + ": " + listing(one.actions), kPurePlan});
  }
  return found;
}

}  // namespace slipway::core
