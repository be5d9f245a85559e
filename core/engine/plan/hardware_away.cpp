// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/hardware_away.hpp"

#include <algorithm>
#include <array>

#include <slipway/action/as_recorded.hpp>
#include <slipway/text.hpp>

namespace slipway::core {
namespace {

Json section_of(const Json& document, const std::string& component) {
  const Json spec = document.is_object() ? document.value("spec", Json::object()) : Json::object();
  return spec.value("components", Json::object()).value(component, Json());
}

bool needs_hardware(const Action& action) {
  const std::string target = action.target();
  const auto kind = action_kind(action.kind());
  return action.kind() == "custom" || action.kind() == "exec" || (kind && (*kind)->is_lost_at_boot()) ||
         std::ranges::any_of(std::array{"/run/", "/var/run/", "/dev/"},
                             [&](const char* folder) { return target.starts_with(folder); });
}

/// True for an action that only waits for a reboot: not needed when this plan changes only files.
bool only_waits(const Action& action) { return action.json().value("only_waits", false); }

}  // namespace

bool asks_for_other_files(const PlannedRun& run, const std::string& component, const Ownership* owned) {
  const Json in_force = section_of(run.in_force, component);
  return owned != nullptr && !in_force.is_null() && in_force != section_of(run.spec.document, component);
}

Plan without_hardware(const Plan& plan, const Ownership& owned, const std::string& missing_reason) {
  Plan files;
  for (const Action& action : plan.actions())
    if (!needs_hardware(action)) files.add(action);
  for (const Owned& item : owned.items)
    if (needs_hardware(item.action) && !only_waits(item.action))
      files.add(action::as_recorded(item.action.kind(), item.action.target()));
  for (const auto& [name, value] : plan.outputs().items()) files.output(name, value);
  for (const std::string& note : plan.notes()) files.note(note);
  files.note(missing_reason + ": only its files are changed; an apply that sees the hardware does the rest");
  return files;
}

std::string remedy_for_required_hardware(const Session& session, const std::vector<std::string>& components) {
  const bool one = components.size() == 1;
  if (!session.host().has_kernel_view()) return kAssumeHardware;
  return std::string("add what ") + (one ? "it lacks" : "they lack") + " (look for hardware with `lspci`), remove " +
         listed(components, "and") + " from the spec, or write `hardware: detect`: then " +
         (one ? "it is" : "they are") + " left out";
}

Error not_installable(const Session& session, const std::vector<std::string>& components, const Facts& facts) {
  const bool required = session.host_config().hardware == "require";
  const std::string names = listed(components, "and");
  return Error{ErrorCode::unsupported,
               names + " cannot be installed: " + facts.why_not(),
               required ? "spec.hardware = require" : session.host_config().root,
               required ? remedy_for_required_hardware(session, components)
                        : "add to the root what " + std::string(components.size() == 1 ? "it lacks" : "they lack") +
                              ", or leave " + names + " out of the spec",
               {}};
}

void name_all_not_installable(const Session& session, PlannedRun& run) {
  std::map<std::string, std::vector<PlannedComponent*>> by_reason;
  for (PlannedComponent& component : run.components)
    if (component.error && !component.facts.applicable()) by_reason[component.facts.why_not()].push_back(&component);
  for (const auto& [why, alike] : by_reason) {
    std::vector<std::string> names;
    for (const PlannedComponent* const component : alike) names.push_back(component->name);
    for (PlannedComponent* const component : alike)
      component->error = not_installable(session, names, component->facts);
  }
}

}  // namespace slipway::core
