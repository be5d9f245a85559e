// SPDX-License-Identifier: Apache-2.0
#include "core/engine/apply/apply_run.hpp"
#include "core/engine/records/failing_components.hpp"
#include "core/engine/records/generations.hpp"

namespace slipway::core {
namespace {

/// True when the component did not work before. A component that an earlier apply could not change, or restored, was
/// working.
bool did_not_work(const ApplyRun& apply, const std::string& name) {
  return apply.failing.contains(name) && apply.failing[name].contains("findings");
}

/// Applies the active generation again, for these components only.
Result<ApplyResult> apply_former(Session& session, const Generation& former, const HostSpec& spec,
                                 const std::vector<std::string>& names, int target) {
  SLIPWAY_TRY(lock, Lock::from_json(former.lock, "generation " + std::to_string(former.number)));
  ApplyOptions options;
  options.plan.only = names;
  options.plan.lock = lock;
  options.plan.back_to = former;
  options.target = target;
  ApplyResult result;
  ApplyRun apply{session, options, result};
  SLIPWAY_CHECK(run_apply(apply, spec));
  for (const PlannedComponent& component : result.run.components)
    if (component.error) return *component.error;
  if (result.error) return *result.error;
  return result;
}

/// The same with that generation's kernels and hardware, which may differ from those of the run that failed.
Result<ApplyResult> apply_former_as_then(Session& session, const Generation& former,
                                         const std::vector<std::string>& names, const HostSpec& now, int target) {
  SLIPWAY_TRY(spec, spec_of(former, session.plugins()));
  const std::vector<std::string> kernels = session.options().kernels;
  session.set_hardware(spec.hardware);
  SLIPWAY_CHECK(session.set_kernels(former.kernels));
  auto back = apply_former(session, former, spec, names, target);
  session.set_hardware(now.hardware);
  SLIPWAY_CHECK(session.set_kernels(kernels));
  return back;
}

bool still_fails(const ApplyResult& back, const std::string& name) {
  const auto found = back.findings.find(name);
  return found != back.findings.end() && !found->second.passed();
}

}  // namespace

/// Finds the components that go back: there must be an earlier state, and it must be different. A component that failed
/// before the change did not fail because of it.
void find_components_to_restore(ApplyRun& apply) {
  const PlannedRun& run = apply.result.run;
  Recording& recording = apply.recording;
  if (run.spec.keeps_failed_changes || !recording.base || !generation_is_new(apply.session, recording, run)) return;
  for (const PlannedComponent& component : run.components)
    if (component.state == ComponentState::failed && has_only_findings(component) &&
        !did_not_work(apply, component.name) && apply.result.findings.contains(component.name))
      recording.going_back.push_back(component.name);
}

Status go_back(ApplyRun& apply, int target) {
  Session& session = apply.session;
  ApplyResult& result = apply.result;
  const std::vector<std::string>& names = apply.recording.going_back;
  const std::optional<Generation>& former = apply.recording.base;
  if (!former) return {};
  const std::string place = "generation " + std::to_string(former->number);
  const auto back = apply_former_as_then(session, *former, names, result.run.spec, target);
  SLIPWAY_TRY(failing, session.state().failing());
  for (const std::string& name : names) {
    PlannedComponent& component = *result.run.find(name);
    component.reason += back ? "; it was set back to its state in " + place : "; it could not be set back to " + place;
    if (back && still_fails(*back, name)) component.reason += ", which does not work either";
    if (const auto others = applied_by_other_plugins(session, *former, {name}); back && others && !others->empty())
      component.reason +=
          "; changes that the plugin itself made stay, because " + place + " was applied with " + others->front();
    const std::string why = failing_text(failing_record(component, &result.findings[name]));
    failing[name] = Json{{"state", to_string(component.state)}, {"reason", component.reason + ": " + why}};
  }
  SLIPWAY_CHECK(session.state().write_failing(failing));
  result.generation = back ? back->generation : former->number;
  if (back) {
    result.report.insert(result.report.end(), back->report.begin(), back->report.end());
    return session.root().sync();
  }
  Error error = back.error();
  error.what = "the components that do not work could not be set back to " + place + ": " + error.what;
  error.next = (error.next.empty() ? "" : error.next + "; then ") + "run `slipway rollback " +
               std::to_string(former->number) + "`";
  return error;
}

}  // namespace slipway::core
