// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/trial.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <slipway/action/difference.hpp>
#include <slipway/text.hpp>

#include "core/exit_code.hpp"

namespace slipway::plugin_check {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputLines = 6;  // of a failed run's messages, repeated in a finding

/// Returns the errors in the JSON output of a run.
std::string errors_in(const Json& result) {
  std::set<std::string> told;
  std::string text;
  const auto add = [&](const Json& holder) {
    if (!holder.is_object() || !holder.contains("error")) return;
    const std::string error = to_text(error_from_json(holder["error"]));
    if (told.insert(error).second) text += error;
  };
  add(result);
  for (const Json& component : result.value("components", Json::array())) add(component);
  return text;
}

std::string name_of(const std::string& entry) { return entry.substr(0, entry.find('=')); }

}  // namespace

Trial Trial::with(const std::vector<std::string>& entries) const {
  std::vector<std::string> environment = entries;
  for (const std::string& entry : environment_)
    if (std::ranges::none_of(entries, [&](const std::string& own) { return name_of(own) == name_of(entry); }))
      environment.push_back(entry);
  return {program_, std::move(environment), spec_, root_, sim_};
}

Result<TrialRun> Trial::run(std::vector<std::string> words, unsigned kill_at_step) const {
  words.insert(words.begin(), program_);
  words.insert(words.end(), {"--root", root_, "--cache", root_ + ".cache", "-o", "jsonl"});
  if (sim_.empty() && (words[1] == "plan" || words[1] == "apply")) words.emplace_back("--without-slipway");
  if (!sim_.empty()) words.insert(words.end(), {"--sim", sim_});
  return run_trial({.argv = std::move(words), .environment = environment_, .kill_at_step = kill_at_step});
}

std::string failed_findings(const Json& components) {
  std::string text;
  for (const auto& [name, list] : components.items())
    for (const Json& finding : list)
      if (finding.value("status", "") == "fail")
        text += "\n" + finding.value("name", "") + ": " + finding.value("text", "");
  return text;
}

std::string output_of(const TrialRun& run) {
  const std::string errors = errors_in(run.result);
  const std::string& all = errors.empty() ? run.messages : errors;  // the messages repeat the errors
  std::size_t begin = all.size();
  for (std::size_t lines = 0; begin > 0; --begin)
    if (all[begin - 1] == '\n' && ++lines > kOutputLines) break;
  std::string text = all.substr(begin);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::string failed = failed_findings(run.result.value("findings", Json::object()));  // those of an apply
  return (text.empty() ? "" : ":\n" + text) + failed;
}

bool applied(const TrialRun& run) {
  return run.exit_code == core::kExitDone || run.exit_code == core::kExitWaiting || run.exit_code == core::kExitReboot;
}

PlanItems items_of(const Json& plan, const std::vector<std::string>& of) {
  PlanItems items;
  for (const Json& component : plan.value("components", Json::array())) {
    if (std::find(of.begin(), of.end(), component.value("name", "")) == of.end()) continue;
    const std::string name = component.value("name", "");
    items.of[name] = component.at("items").size();
    if (const std::string why = component.value("reason", ""); !why.empty()) items.why_not[name] = why;
    for (const Json& item : component.at("items")) {
      const Json& action = item.at("action");
      const std::string kind = action.value("kind", "");
      items.kinds.insert(kind);
      items.actions.push_back(action);
      items.actions.back()["component"] = name;
      if (kind == "file") items.files.push_back(action.value("target", ""));
    }
  }
  return items;
}

std::string open_changes(const Json& plan, const PlanItems& before, const std::vector<std::string>& of) {
  const auto is_named = [](const Json& action, const Json& other) {
    return action.value("kind", "") == other.value("kind", "") &&
           action.value("target", "") == other.value("target", "");
  };
  std::string text;
  for (const Json& component : plan.value("components", Json::array())) {
    if (std::find(of.begin(), of.end(), component.value("name", "")) == of.end()) continue;
    for (const Json& item : component.at("items")) {
      if (item.value("standing", "") != "change") continue;
      text += "\n" + item.value("summary", "");
      if (item.value("removal", false)) continue;
      Json action = item.at("action");
      action["component"] = component.value("name", "");
      const auto same = std::ranges::find_if(before.actions, [&](const Json& old) { return is_named(old, action); });
      const std::string changes = same == before.actions.end() ? "" : action_difference(*same, action);
      if (same == before.actions.end())
        text += " (not in the first plan)";
      else
        text +=
            changes.empty() ? " (the action is the same, but the host no longer has its result)" : " (" + changes + ")";
    }
  }
  return text;
}

}  // namespace slipway::plugin_check
