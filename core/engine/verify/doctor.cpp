// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/doctor.hpp"

#include <algorithm>

#include "core/engine/advice.hpp"
#include "core/engine/plan/planner.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/verify/causes.hpp"
#include "core/engine/verify/verify.hpp"

namespace slipway::core {
namespace {

/// Plugins built for an older slipway have no patterns.
Findings diagnose_component(Session& session, const std::string& name, const Json& section) {
  Findings findings;
  auto reply =
      session.call(name, "diagnose", {{"spec", section}, {"host", to_json(session.host_config())}}, kVerifyLimit);
  if (!reply && reply.error().code == ErrorCode::unsupported) return findings;
  auto found = reply ? findings_from_json(*reply) : Result<Findings>(reply.error());
  if (found) return advised_by_plugin(*found, session);
  findings.fail(name + ".diagnose", text_with_file(found.error()), found.error().next);
  return findings;
}

bool is_left_out_here(const std::string& name, const Findings& findings) {
  return std::ranges::any_of(findings.list(),
                             [&](const Finding& finding) { return finding.name == name + std::string(kApplies); });
}

Findings merged(const Findings& verified, const Findings& patterns) {
  Findings all;
  for (const Finding& finding : verified.list()) {
    const auto same = [&](const Finding& pattern) { return pattern.name == finding.name; };
    if (std::none_of(patterns.list().begin(), patterns.list().end(), same)) all.add(finding);
  }
  for (const Finding& finding : patterns.list()) all.add(finding);
  return all;
}

/// A machine keeps running when a registry does not answer, so that is only a warning.
Finding plan_problem(const std::string& name, const Error& error) {
  const bool later = error.code == ErrorCode::unreachable;
  std::string text = text_with_file(error);
  for (const auto& [label, detail] : error.details) text += "; " + label + ": " + detail;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return {later ? Finding::Status::warning : Finding::Status::fail, name + ".plan", text, error.next};
}

/// True when verify has already failed on the problem that stops the plan.
bool is_already_reported(const Findings& findings, const Finding& problem) {
  return std::ranges::any_of(findings.list(), [&](const Finding& each) {
    return each.status == Finding::Status::fail && each.text == problem.text;
  });
}

}  // namespace

Result<std::map<std::string, Findings>> doctor_run(Session& session, const HostSpec& spec,
                                                   const DoctorOptions& options) {
  SLIPWAY_TRY(all, verify_run(session, spec, {options.only, false}));
  for (auto& [name, findings] : all) {
    const auto section = spec.components.find(name);
    if (section == spec.components.end() || is_left_out_here(name, findings)) continue;
    session.ui().looking("diagnose " + name + " …");
    findings = merged(findings, diagnose_component(session, name, section->second));
  }
  session.ui().looking({});
  SLIPWAY_TRY(unfinished, read_unfinished(session));
  const bool can_plan = !unfinished.damaged && session.state().left_out().empty() && !spec.components.empty();
  if (!can_plan) return all;
  std::vector<std::string> names = options.only;  // a component that the last apply left out has no plan
  std::erase_if(names, [&spec](const std::string& name) { return !spec.has(name); });
  if (names.empty() && !options.only.empty()) return all;
  session.ui().looking("plan …");
  auto planned = plan_run(session, spec, {names, options.lock, false});
  session.ui().looking({});
  SLIPWAY_TRY(run, std::move(planned));
  for (const PlannedComponent& component : run.components) {
    if (component.state != ComponentState::failed || !component.error || spec.unusable.contains(component.name))
      continue;
    const Finding problem = plan_problem(component.name, *component.error);
    if (!is_already_reported(all[component.name], problem)) all[component.name].add(problem);
  }
  name_causes(all, !unfinished.at_work.empty());
  return all;
}

}  // namespace slipway::core
