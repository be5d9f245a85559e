// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include <slipway/action/difference.hpp>

#include "core/engine/apply/apply_run.hpp"
#include "core/engine/plan/planner.hpp"
#include "core/engine/records/failing_components.hpp"
#include "core/engine/stop.hpp"
#include "core/engine/verify/verify.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kSettleTime{10};
constexpr std::chrono::milliseconds kSettleStep{500};

/// Returns an earlier component that needs a reboot or waits for its source. A component that does not work is then
/// expected to work after that, and has not failed.
const PlannedComponent* unfinished_before(const ApplyRun& apply, const PlannedComponent& component) {
  for (const PlannedComponent& other : apply.result.run.components)
    if ((other.state == ComponentState::reboot_required || other.awaits_source) &&
        comes_after(apply.session, component.name, other.name))
      return &other;
  return nullptr;
}

/// True for a finding that no change of the component has caused, and that going back would not fix.
bool is_of_the_machine(const std::string& component, const Finding& finding) {
  return finding.name == component + std::string(kNextBoot) || finding.name == component + std::string(kLost) ||
         finding.cause.starts_with(kMachineCause);
}

/// Turns findings about the next boot into warnings of an apply: otherwise a working driver would be replaced because
/// of a kernel that is installed but not running. Does the same for a GPU that does not answer, and for a program that
/// the machine lacks.
Findings downgrade_boot_findings(const std::string& component, const Findings& findings) {
  Findings all;
  for (Finding finding : findings.list()) {
    if (finding.status == Finding::Status::fail && is_of_the_machine(component, finding))
      finding.status = Finding::Status::warning;
    all.add(std::move(finding));
  }
  return all;
}

void verify(ApplyRun& apply, PlannedComponent& component, const std::string& words) {
  if (apply.session.plugins().manifest(component.name) == nullptr) return;
  auto findings = verify_component(apply.session, component.name, component.section);
  if (!findings) return fail(component, std::move(findings).error());
  *findings = downgrade_boot_findings(component.name, *findings);
  if (!findings->passed()) {
    const PlannedComponent* const other = unfinished_before(apply, component);
    component.state = other != nullptr ? other->state : ComponentState::failed;
    component.reason = words + failed_names(*findings);
    if (other != nullptr)
      component.reason = other->name + (other->awaits_source ? " waits for its source" : " needs a reboot") +
                         "; until then this fails: " + failed_names(*findings);
  }
  apply.result.findings[component.name] = std::move(*findings);
}

/// Describes how an action of a new plan differs from the one that was carried out.
std::string how_it_differs(const PlannedComponent& planned, const PlannedItem& again) {
  const auto before = std::ranges::find(planned.items, again.key(), &PlannedItem::key);
  if (before == planned.items.end()) return "the plan that was carried out had no such action";
  const std::string changes = action_difference(before->action.json(), again.action.json());
  return changes.empty() ? "the action is the same, but its result has changed on the host: " + again.check.summary
                         : changes;
}

/// Plans the component again and fails when there is anything left to do.
Status check_stable(ApplyRun& apply, const PlannedComponent& component) {
  const auto deadline = std::chrono::steady_clock::now() + kSettleTime;
  for (;;) {
    SLIPWAY_TRY(owned, apply.session.state().ownerships());
    PlanOptions options = apply.options.plan;
    options.lock = apply.result.run.lock;
    options.replace_edits.reset();  // an edit made since then is kept
    Lock lock = options.lock;
    const PlannedComponent again =
        plan_component(apply.session, apply.result.run, component.name, owned_by(component.name, owned), options, lock);
    if (again.error) return *again.error;
    if (!again.changes()) return {};
    if (std::chrono::steady_clock::now() < deadline && check_not_stopped()) {
      std::this_thread::sleep_for(kSettleStep);
      continue;
    }
    const auto left = std::ranges::find_if(again.items, &PlannedItem::changes);
    return Error{ErrorCode::plugin_defect,
                 "bug in plugin " + component.name + ": right after apply it plans something else (" + left->key() +
                     "): " + how_it_differs(component, *left),
                 {},
                 "report this to the plugin's authors",
                 {}};
  }
}

}  // namespace

bool has_only_findings(const PlannedComponent& component) { return !component.error; }

void look_again(ApplyRun& apply, PlannedComponent& component) {
  if (apply.session.plugins().manifest(component.name) == nullptr) return;
  if (const Status stable = check_stable(apply, component); !stable) return fail(component, stable.error());
  verify(apply, component, "it does not work: ");
}

void look_until_settled(ApplyRun& apply, PlannedComponent& component) {
  const ComponentState state = component.state;
  const std::string reason = component.reason;
  const auto deadline = std::chrono::steady_clock::now() + kSettleTime;
  for (;;) {
    component.state = state;
    component.reason = reason;
    verify(apply, component, "it does not work: ");
    if (component.state == state || std::chrono::steady_clock::now() > deadline || !check_not_stopped()) return;
    std::this_thread::sleep_for(kSettleStep);
  }
}

void look_at_failing(ApplyRun& apply) {
  if (!apply.options.verify_failing) return;
  for (PlannedComponent& component : apply.result.run.components)
    if (component.state == ComponentState::ready && (apply.cut_off || apply.failing.contains(component.name)))
      verify(apply, component, "it still does not work: ");
}

/// Records failures. A run without changes records nothing about a component that was never installed.
Status remember_failing(const ApplyRun& apply) {
  StateDir& state = apply.session.state();
  const std::optional<Generation>& base = apply.recording.base;
  Json after = failing_after(apply.failing, apply.result.run, apply.result.findings);
  SLIPWAY_TRY(owned, state.ownerships());
  for (const PlannedComponent& component : apply.result.run.components) {
    const bool was_here = owned.contains(component.name) || (base && base->plugins.contains(component.name));
    if (!apply.result.changed && !was_here && !apply.failing.contains(component.name)) after.erase(component.name);
  }
  // No generation names a component of which nothing was installed. A component outside this run keeps its record.
  if (const std::string& spec = apply.session.options().spec; !spec.empty())
    for (const PlannedComponent& component : apply.result.run.components)
      if (after.contains(component.name) && is_unsettled(component))
        after[component.name]["spec_file"] = kept_spec_file(apply.session, spec);
  if (after == apply.failing || !state.exists()) return {};
  SLIPWAY_CHECK(state.write_failing(after));
  return apply.session.root().sync();
}

}  // namespace slipway::core
