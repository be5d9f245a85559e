// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/edits.hpp"
#include "cli/render/render.hpp"

namespace slipway::cli {
Tone tone_of(core::ComponentState state) {
  switch (state) {
    case core::ComponentState::failed:
    case core::ComponentState::blocked:
      return Tone::bad;
    case core::ComponentState::waiting:
    case core::ComponentState::reboot_required:
    case core::ComponentState::deferred:
      return Tone::attention;
    case core::ComponentState::ready:
    case core::ComponentState::changed:
      return Tone::good;
    default:
      return Tone::plain;
  }
}

Json envelope(const std::string& kind, Json members) {
  members["apiVersion"] = "slipway.dev/v1";
  members["kind"] = kind;
  return members;
}

std::string json_text(const Json& value, const std::string& output) {
  return output == "jsonl" ? canonical(value) + "\n" : pretty(value);
}

std::string error_text(const Error& error, const std::string& component, const core::HostSpec* spec) {
  Error shown = error;
  if (!component.empty() && !shown.what.starts_with(component + ":")) shown.what = component + ": " + shown.what;
  constexpr std::string_view kPrefix = "spec.";
  if (spec != nullptr && shown.where.starts_with(kPrefix)) {
    const std::string position = spec->position(shown.where.substr(kPrefix.size()));
    if (!position.empty()) shown.where = position + "  " + shown.where;
  }
  return to_text(shown);
}

std::string error_text(const core::PlannedRun& run, const core::PlannedComponent& component) {
  if (!component.error) return {};
  const auto has_it = [&](const core::PlannedComponent& other) {
    return other.error && to_json(*other.error) == to_json(*component.error);
  };
  if (&*std::ranges::find_if(run.components, has_it) != &component) return {};
  const bool shared = std::ranges::count_if(run.components, has_it) > 1;  // then the error's text names the components
  return error_text(*component.error, shared ? std::string() : component.name, &run.spec);
}

std::string note_text(const std::string& note, const core::HostSpec& spec) {
  const std::size_t end = note.find(": ");
  if (!note.starts_with("spec.") || end == std::string::npos) return note;
  const std::string position = spec.position(note.substr(0, end));
  return position.empty() ? note : position + "  " + note;
}

Json findings_json(const std::map<std::string, Findings>& findings) {
  Json components = Json::object();
  bool passed = true;
  for (const auto& [component, list] : findings) {
    components[component] = to_json(list);
    passed = passed && list.passed();
  }
  passed = passed && !core::awaits_apply(findings);
  return envelope("Findings", {{"components", components}, {"passed", passed}});
}

void append_warnings(Page& text, const Findings& warnings) {
  for (const Finding& each : warnings.list())
    text << Toned{Tone::attention, "warning"} << ": " << each.text << "\n  do: " << each.remedy << '\n';
}

Page apply_text(const core::ApplyResult& result, const std::string& root) {
  Page text;
  for (const std::string& line : result.report) text << "note: " << line << '\n';
  for (const core::PlannedComponent& component : result.run.components) {
    text << component.name << ": " << Toned{tone_of(component.state), std::string(core::to_string(component.state))};
    if (!component.reason.empty()) text << " (" << component.reason << ")";
    text << '\n';
    for (const core::PlannedItem& item : component.items)
      if (item.check.standing == core::Check::Standing::drift_kept) text << "  kept: " << item.check.summary << '\n';
  }
  text << findings_text(result.findings);
  const std::size_t kept = app::kept_paths(result.run).size();
  const bool waits = std::ranges::any_of(result.run.components, [](const core::PlannedComponent& component) {
    return component.state == core::ComponentState::waiting;
  });
  if (!result.changed && result.run.failed())
    text << "Nothing was changed.\n";
  else if (!result.changed && waits)
    text << "Nothing was changed. What waits still has to be done.\n";
  else if (!result.changed)
    text << "Nothing to do: " << root << " is as the spec says"
         << (kept == 0 ? "" : ", but for " + app::edits_text(kept) + " that " + (kept == 1 ? "is" : "are") + " kept")
         << ".\n";
  else if (result.generation != 0)
    text << "Generation " << result.generation << " is active"
         << (result.run.failed() ? ". Components that failed keep their previous state.\n" : ".\n");
  append_warnings(text, result.run.warnings);
  return text;
}

Json apply_json(const core::ApplyResult& result) {
  Json components = Json::array();
  for (const core::PlannedComponent& component : result.run.components) {
    Json value{{"name", component.name}, {"state", core::to_string(component.state)}};
    if (!component.reason.empty()) value["reason"] = component.reason;
    if (component.error) value["error"] = to_json(*component.error);
    components.push_back(std::move(value));
  }
  Json members{{"changed", result.changed},
               {"components", components},
               {"findings", findings_json(result.findings)["components"]},
               {"generation", result.generation},
               {"report", result.report}};
  if (result.error) members["error"] = to_json(*result.error);
  if (!result.run.warnings.list().empty()) members["warnings"] = to_json(result.run.warnings);
  return envelope("Applied", std::move(members));
}

}  // namespace slipway::cli
