// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <slipway/text.hpp>

#include "app/edits.hpp"
#include "app/saved_plan.hpp"
#include "cli/render/render.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

/// Makes a path absolute: a saved plan may be applied from another folder.
std::string absolute(const std::string& path) {
  std::error_code code;
  const auto whole = std::filesystem::absolute(path, code).lexically_normal();
  return code || path.empty() ? path : whole.string();
}

Toned mark(const core::PlannedItem& item) {
  switch (item.check.standing) {
    case core::Check::Standing::satisfied:
      return {Tone::faint, "="};
    case core::Check::Standing::change:
      return item.removal ? Toned{Tone::bad, "-"} : Toned{Tone::good, "+"};
    case core::Check::Standing::drift_kept:
      return {Tone::attention, "!"};
    case core::Check::Standing::at_boot:
      return {Tone::attention, "@"};
    case core::Check::Standing::conflict:
      return {Tone::bad, "x"};
  }
  return {Tone::plain, "?"};
}

const char* standing_word(core::Check::Standing standing) {
  constexpr const char* kNames[]{"satisfied", "change", "drift-kept", "at-boot", "conflict"};
  return kNames[static_cast<int>(standing)];
}

std::string headline(const core::PlannedComponent& component) {
  std::size_t changes = 0;
  for (const core::PlannedItem& item : component.items) changes += item.changes() ? 1U : 0U;
  const std::string count = std::to_string(changes) + (changes == 1 ? " change" : " changes");
  switch (component.state) {
    case core::ComponentState::ready:
      return component.follows.empty() ? "nothing to do"
                                       : "planned again once " + component.follows + " has changed the devices";
    case core::ComponentState::changed:
      return count + (component.follows.empty()
                          ? ""
                          : ", planned again once " + component.follows + " has changed the devices");
    case core::ComponentState::removed:
      return "is removed, " + count;
    default:
      return std::string(core::to_string(component.state)) + (component.reason.empty() ? "" : ": " + component.reason);
  }
}

/// Only exceptional states have a colour: unchanged components and changes are a plan's normal content.
Tone tone_of_plan(core::ComponentState state) { return tone_of(state) == Tone::good ? Tone::plain : tone_of(state); }

void append_indented(Page& text, const std::string& block, const char* indent) {
  for (const std::string_view line : lines_of<std::string_view>(block)) text << indent << line << '\n';
}

Tone tone_of_mark(char mark) { return mark == '+' ? Tone::good : mark == '-' ? Tone::bad : Tone::faint; }

/// Appends the lines that a custom action shows of its change. A line of only marks ("==== ---- ++++") is coloured.
void append_picture(Page& text, const std::string& picture) {
  for (const std::string& line : lines_of(picture)) {
    text << "    ";
    const bool is_marks = line.find_first_not_of(" =+-") == std::string::npos;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = is_marks ? std::min(line.find_first_not_of(line[at], at), line.size()) : line.size();
      const std::string run = line.substr(at, end - at);
      text << Toned{is_marks && run.front() != ' ' ? tone_of_mark(run.front()) : Tone::plain, run};
      at = end;
    }
    text << '\n';
  }
}

/// True when it needs no change and failed after the last apply.
bool is_checked_again(const core::PlannedRun& run, const core::PlannedComponent& component) {
  return component.state == core::ComponentState::ready && run.failing.contains(component.name);
}

bool was_waiting(const core::PlannedRun& run, const core::PlannedComponent& component) {
  return run.failing.contains(component.name) &&
         run.failing[component.name].value("state", "") == core::to_string(core::ComponentState::waiting);
}

void append_component(Page& text, const core::PlannedComponent& component, const core::PlannedRun& run, bool verbose) {
  text << Toned{Tone::heading, component.name} << ": " << Toned{tone_of_plan(component.state), headline(component)}
       << '\n';
  if (is_checked_again(run, component))
    text << (run.failing[component.name].value("removal", false) ? "  it could not be removed ("
                                                                 : "  it did not work after the last apply (")
         << core::failing_text(run.failing[component.name]) << "); an apply checks it again\n";
  else if (was_waiting(run, component))
    text << "  it was waiting at the end of the last apply (" << core::failing_text(run.failing[component.name])
         << ")\n";
  for (const PlanLine& line : plan_lines(component.items, verbose)) {
    const core::PlannedItem& item = *line.first;
    if (item.check.standing == core::Check::Standing::satisfied && !verbose) continue;
    // The reason for the action is not the reason for removing it.
    const Json because = item.removal ? Json() : item.action.value("because");
    text << "  " << mark(item) << ' ' << line.text;
    if (because.is_string()) text << "  " << Toned{Tone::faint, "# " + because.get<std::string>()};
    text << '\n';
    if (item.action.kind() == "custom")
      append_picture(text, item.check.diff);
    else if (verbose)
      append_indented(text, item.check.diff, "      ");
  }
  for (const std::string& note : component.plan.notes()) text << "  note: " << note_text(note, run.spec) << '\n';
  if (const std::string error = error_text(run, component); !error.empty()) append_indented(text, error, "  ");
}

void append_trigger(Page& text, const core::Trigger& trigger, const core::PlannedRun& run, bool verbose) {
  text << "then: " << trigger.text() << '\n';
  const auto found = run.prospects.find(trigger);
  if (found == run.prospects.end()) return;
  const auto& [tool, skipped] = found->second;
  if (!skipped.empty()) text << (tool.empty() ? "      skipped: " : "      left out: ") << skipped << '\n';
  if (!tool.empty() && verbose) text << "      by " << tool << '\n';
}

void append_interruption(Page& text, const core::PlannedRun& run) {
  if (!run.on_machine || !run.changes()) return;
  text << "interruption: " << run.interruption.name();
  if (!run.interruption.why.empty()) text << " (" << joined(run.interruption.why, "; ") << ')';
  text << '\n';
}

/// By trigger: {"tool": the program to run} or {"skipped": the reason why none will run}.
Json prospects_json(const core::PlannedRun& run) {
  Json all = Json::object();
  for (const auto& [trigger, prospect] : run.prospects) {
    if (!prospect.tool.empty()) all[trigger.text()]["tool"] = prospect.tool;
    if (!prospect.skipped.empty()) all[trigger.text()]["skipped"] = prospect.skipped;
  }
  return all;
}

/// Returns a command as typed for the host of this plan.
std::string typed(const std::string& command, const Options& options) {
  core::SessionOptions host = options.session;
  host.spec = options.spec;
  return core::advised(command, host);
}

/// Returns each kept edit, with the commands that replace it and that accept it.
Json edits_json(const core::PlannedRun& run, const Options& options) {
  Json all = Json::array();
  const auto bare = [&](const std::string& command) {
    const std::string text = typed(command, options);
    const std::size_t begin = text.find('`') + 1;
    return text.substr(begin, text.find('`', begin) - begin);
  };
  for (const core::PlannedComponent& component : run.components)
    for (const core::PlannedItem& item : component.items) {
      if (!item.check.edit) continue;
      const std::string ways = core::edit_remedies({item.check.edit->path});
      all.push_back({{"component", component.name},
                     {"path", item.check.edit->path},
                     {"summary", item.check.summary},
                     {"replace", bare(ways)},
                     {"accept", bare(ways.substr(ways.find("`slipway accept")))}});
    }
  return all;
}

/// Summarizes the plan in a sentence; empty when its lines are enough.
std::string conclusion(const core::PlannedRun& run, const std::vector<std::string>& kept) {
  if (run.failed()) return "Not everything can be planned; see the errors above.\n";
  if (run.changes()) return {};
  if (std::ranges::any_of(run.components, [&](const auto& each) { return is_checked_again(run, each); }))
    return "Nothing to change. An apply checks again what did not work.\n";
  if (kept.empty()) return "Nothing to do.\n";
  return "Nothing to do: all is as the spec says, except " + app::edits_text(kept.size()) + " that " +
         (kept.size() == 1 ? "is" : "are") + " kept.\n";
}

}  // namespace

Page plan_text(const core::PlannedRun& run, const Options& options) {
  const bool verbose = options.verbose;
  Page text;
  text << "Plan for " << options.session.root << (run.kernel.empty() ? "" : ", kernel " + run.kernel) << '\n';
  if (run.recovery) text << "  an earlier apply was cut off: its open changes are undone first\n";
  if (run.without_records)
    text << "  this user may not read slipway's records of this root, so this plan lacks removals and edits; run it as "
            "root to see them\n";
  for (const std::string& trigger : run.pending) text << "  still pending from an earlier apply: " << trigger << '\n';
  for (const core::PlannedComponent& component : run.components) append_component(text, component, run, verbose);
  for (const core::Trigger& trigger : run.triggers) append_trigger(text, trigger, run, verbose);
  append_interruption(text, run);
  const auto kept = app::kept_paths(run);
  text << Page(conclusion(run, kept));
  if (!kept.empty()) text << "  kept: " << typed(core::edit_remedies(kept), options) << '\n';
  append_warnings(text, run.warnings);
  return text;
}

Json plan_json(const core::PlannedRun& run, const Options& options) {
  Json components = Json::array();
  for (const core::PlannedComponent& component : run.components) {
    Json items = Json::array();
    for (const core::PlannedItem& item : component.items)
      items.push_back({{"action", item.action.json()},
                       {"removal", item.removal},
                       {"standing", standing_word(item.check.standing)},
                       {"summary", item.check.summary},
                       {"diff", item.check.diff}});
    Json value{{"name", component.name},
               {"state", core::to_string(component.state)},
               {"facts", to_json(component.facts)},
               {"items", std::move(items)},
               {"notes", component.plan.notes()},
               {"outputs", component.plan.outputs()}};
    if (!component.reason.empty()) value["reason"] = component.reason;
    if (component.error) value["error"] = to_json(*component.error);
    if (run.failing.contains(component.name)) value["failing"] = run.failing[component.name];
    components.push_back(std::move(value));
  }
  Json made_for = {
      {"spec", absolute(run.spec.file)},
      {"root", absolute(options.session.root)},
      {"kernels", options.session.kernels},
      {"sim", options.session.sim.find('/') == std::string::npos ? options.session.sim : absolute(options.session.sim)},
      {"live", options.session.live.value_or(false)},
      {"image", options.image},
      {"update", options.update},
      {"without_slipway", options.without_slipway},
      {"only", options.only}};
  if (options.replace_edits) made_for["replace_edits"] = *options.replace_edits;
  Json plan{{"changes", run.changes()},
            {"components", components},
            {"edits", edits_json(run, options)},
            {"interruption", {{"level", run.interruption.name()}, {"why", run.interruption.why}}},
            {"kernel", run.kernel},
            {"pending", run.pending},
            {"recovery", run.recovery},
            {"triggers", core::texts_of(run.triggers)},
            {"prospects", prospects_json(run)},
            {"identity", app::plan_identity(run)},
            {"lock", run.lock.to_json()},
            {"options", made_for}};
  if (run.without_records) plan["without_records"] = true;
  if (!run.warnings.list().empty()) plan["warnings"] = to_json(run.warnings);
  return envelope("Plan", std::move(plan));
}

}  // namespace slipway::cli
