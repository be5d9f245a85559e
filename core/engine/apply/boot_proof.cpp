// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/boot_proof.cpp - the boot after a change of packages, such as a driver upgrade that a reboot
// completes: a component that does not work with them returns to the packages before, which are still in the store.
#include <algorithm>

#include "core/engine/apply/apply_run.hpp"
#include "core/engine/records/failing_components.hpp"
#include "core/engine/records/unproven_change.hpp"

namespace slipway::core {
namespace {

/// An interrupted return is tried once more.
constexpr int kMostAttempts = 2;
constexpr std::size_t kMostReturned = 16;

/// True for an error that the packages do not cause.
bool is_of_another_cause(const Error& error) {
  return error.code == ErrorCode::unreachable || error.code == ErrorCode::cancelled ||
         error.code == ErrorCode::locked || error.code == ErrorCode::offline;
}

/// True when the component does not work in this boot.
bool does_not_work(ApplyRun& apply, PlannedComponent& component) {
  if (component.error) return !is_of_another_cause(*component.error);
  if (component.state == ComponentState::failed) return true;
  if (component.state != ComponentState::ready && component.state != ComponentState::changed) return false;
  look_until_settled(apply, component);
  return component.state == ComponentState::failed;
}

std::string why_it_stays(const UnprovenChange& change) {
  return "; an earlier boot has given up this change once, so it stays now: `slipway rollback " +
         std::to_string(change.before) + "` returns to generation " + std::to_string(change.before) +
         " without a download";
}

/// The component works again, so it does not make this boot fail. The record of its failure stays.
void report_return(ApplyRun& apply, PlannedComponent& component, int generation) {
  component.state = ComponentState::changed;
  if (component.error) component.reason = "it does not work: " + component.error->what + component.reason;
  component.error.reset();
  apply.result.findings.erase(component.name);
  apply.result.report.push_back("generation " + std::to_string(generation) +
                                " did not pass its first boot: " + component.name + ": " + component.reason);
}

Status remember_return(StateDir& state, const std::vector<std::string>& given_up) {
  SLIPWAY_TRY(change, state.unproven());
  for (const std::string& set : given_up)
    if (std::ranges::count(change.returned, set) == 0) change.returned.push_back(set);
  while (change.returned.size() > kMostReturned) change.returned.erase(change.returned.begin());
  return state.write_unproven(change);
}

}  // namespace

Status go_back_at_boot(ApplyRun& apply) {
  Session& session = apply.session;
  StateDir& state = session.state();
  SLIPWAY_TRY(change, state.unproven());
  const std::string boot = boot_id_of(session.host());
  if (!session.host_config().booting || !change.waits() || boot.empty() || boot == change.boot_id) return {};
  std::vector<std::string>& names = apply.recording.going_back;
  std::vector<std::string> given_up;
  bool stays = change.attempts >= kMostAttempts || apply.result.run.spec.keeps_failed_changes;
  for (const auto& [name, store] : change.stores) {
    PlannedComponent* const component = apply.result.run.find(store.component);
    if (component == nullptr || !does_not_work(apply, *component)) continue;
    names.push_back(store.component);
    given_up.push_back(name + "/" + store.set);
    stays = stays || std::ranges::count(change.returned, given_up.back()) != 0;
  }
  if (names.empty()) return {};
  if (stays) {
    for (const std::string& name : names) apply.result.run.find(name)->reason += why_it_stays(change);
    names.clear();
    return remember_failing(apply);
  }
  change.attempts += 1;
  SLIPWAY_CHECK(state.write_unproven(change));
  SLIPWAY_CHECK(session.root().sync());
  SLIPWAY_TRY(former, state.generation(change.before));
  apply.recording.base = std::move(former);
  session.ui().log(Ui::Level::warning, "",
                   "generation " + std::to_string(change.generation) +
                       " does not work in its first boot: returning to " + "generation " +
                       std::to_string(change.before));
  SLIPWAY_CHECK(go_back(apply, change.before));
  SLIPWAY_CHECK(remember_return(state, given_up));
  apply.result.changed = true;
  for (const std::string& name : names) report_return(apply, *apply.result.run.find(name), change.generation);
  return session.root().sync();
}

}  // namespace slipway::core
