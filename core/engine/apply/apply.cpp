// SPDX-License-Identifier: Apache-2.0
#include "core/engine/apply/apply.hpp"

#include <algorithm>
#include <thread>

#include "core/action/store/store.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/engine/apply/failing.hpp"
#include "core/engine/apply/generations.hpp"
#include "core/engine/apply/layers.hpp"
#include "core/engine/apply/pending.hpp"
#include "core/engine/apply/recovery.hpp"
#include "core/engine/apply/stop.hpp"
#include "core/engine/apply/transaction.hpp"
#include "core/engine/plan/relations.hpp"
#include "core/engine/plan/sources.hpp"
#include "core/engine/root_lock.hpp"
#include "core/engine/unit/units.hpp"
#include "core/engine/verify/advice.hpp"
#include "core/engine/verify/verify.hpp"
#include "core/graph/names.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kSettleTime{10};
constexpr std::chrono::milliseconds kSettleStep{500};

std::map<std::string, Json> sources_of(const Session& session, const PlannedComponent& component) {
  std::map<std::string, Json> sources;
  const Manifest* manifest = session.plugins().manifest(component.name);
  if (manifest == nullptr) return sources;
  for (const auto& [key, named] : named_sources(*manifest, component.section)) sources[key] = named.source;
  return sources;
}

/// Downloads everything that a component will unpack.
Status fetch(Session& session, const PlannedComponent& component) {
  Json layers = Json::array();
  for (const PlannedItem& item : component.items)
    if (item.changes() && !item.removal)
      for (const Json& layer : item.action.value("layers")) layers.push_back(layer);
  if (layers.empty()) return {};
  ComponentLayers fetcher(session, component.name, sources_of(session, component));
  SLIPWAY_CHECK(fetcher.fetch(layers));
  return stop_requested();
}

/// One apply under way.
class Apply {
 public:
  Apply(Session& session, const ApplyOptions& options, ApplyResult& result)
      : session_(session), options_(options), result_(result) {}

  Status run(const HostSpec& spec) {
    SLIPWAY_TRY(planned, plan_run(session_, spec, options_.plan));
    result_.run = std::move(planned);
    SLIPWAY_CHECK(recover(spec));
    SLIPWAY_CHECK(check_saved_plan(options_.expected, result_.run));
    failing_ = result_.run.failing;
    if (!journal_ && !result_.run.changes() && !generation_is_new(session_, result_.run)) {
      SLIPWAY_CHECK(session_.state().leave());  // where a crash kept the last removal from doing that
      if (session_.state().exists()) SLIPWAY_CHECK(record_outputs(session_, result_.run));
      return keep_generation();
    }
    for (PlannedComponent& component : result_.run.components)  // all of it, before anything is changed
      if (const Status fetched = fetch(session_, component); !fetched) fail(component, fetched.error());
    SLIPWAY_CHECK(stop_requested());
    if (!journal_ && nothing_can_be_done()) {
      for (PlannedComponent& component : result_.run.components)
        if (component.name == kBootComponent && component.changes()) leave_to_no_boot(component);
      return keep_generation();
    }
    SLIPWAY_CHECK(open_journal_now());
    result_.changed = true;
    for (PlannedComponent& component : result_.run.components) change(component);
    settle_accounts();
    return {};
  }

  /// Components that this run changed, and that worked before and do not now: they go back.
  const std::vector<std::string>& going_back() const { return going_back_; }

 private:
  Status open_journal_now() {
    if (journal_) return {};
    SLIPWAY_TRY(recovered, open_and_recover(session_));
    journal_ = std::move(recovered.journal);
    result_.report.insert(result_.report.end(), recovered.report.begin(), recovered.report.end());
    return {};
  }

  Status recover(const HostSpec& spec) {
    if (!result_.run.recovery && !journal_exists(session_)) return {};
    SLIPWAY_CHECK(open_journal_now());
    cut_off_ = true;
    SLIPWAY_TRY(again, plan_run(session_, spec, options_.plan, journal_.get()));
    result_.run = std::move(again);
    return {};
  }

  /// Nothing is changed. What did not work before is looked at again all the same.
  Status keep_generation() {
    look_at_failing();
    SLIPWAY_CHECK(remember_failing());
    SLIPWAY_TRY(current, session_.state().current());
    result_.generation = current ? current->number : 0;
    return {};
  }

  /// Those that did not work after an earlier apply, and all after one that was cut off before it came to that.
  void look_at_failing() {
    if (!options_.verify_failing) return;
    for (PlannedComponent& component : result_.run.components)
      if (component.state == ComponentState::ready && (cut_off_ || failing_.contains(component.name)))
        verify(component, "it still does not work: ");
  }

  /// A run that has changed nothing leaves no trace of a component that was never here.
  Status remember_failing() {
    Json after = failing_after(failing_, result_.run, result_.findings);
    SLIPWAY_TRY(owned, session_.state().ownerships());
    SLIPWAY_TRY(current, session_.state().current());
    for (const PlannedComponent& component : result_.run.components) {
      const bool was_here = owned.contains(component.name) || (current && current->plugins.contains(component.name));
      if (!result_.changed && !was_here && !failing_.contains(component.name)) after.erase(component.name);
    }
    if (after == failing_ || !session_.state().exists()) return {};
    SLIPWAY_CHECK(session_.state().write_failing(after));
    return session_.root().sync();
  }

  bool blocked(PlannedComponent& component) {
    const Manifest* manifest = session_.plugins().manifest(component.name);
    if (manifest == nullptr || component.leaving) return false;
    for (const PlannedComponent& other : result_.run.components) {
      if (other.state != ComponentState::failed && other.state != ComponentState::blocked) continue;
      const Manifest* provider = session_.plugins().manifest(other.name);
      if (provider == nullptr || !is_among(*provider, manifest->requires_)) continue;
      component.state = ComponentState::blocked;
      component.reason = "it requires " + other.name + ", which is " + std::string(to_string(other.state));
      return true;
    }
    return false;
  }

  /// Its place among all components of the spec, from 1, whichever of them this run looks at; a removal goes backwards.
  int order_of(const PlannedComponent& component) const {
    const auto& order = result_.run.order;
    return static_cast<int>(std::ranges::find(order, component.name) - order.begin()) + 1;
  }

  void change(PlannedComponent& component) {
    if (component.error || blocked(component)) return;
    if (boot_is_pointless(component)) return leave_to_no_boot(component);
    if (component.state == ComponentState::deferred || follows_a_change(component)) plan_again(component);
    if (component.error || component.state == ComponentState::not_applicable) return;
    if (!component.changes() && !component.leaving) return;
    if (const Status stop = stop_requested(); !stop) return fail(component, stop.error());
    Transaction transaction(session_, *journal_, component, order_of(component), sources_of(session_, component));
    auto outcome = transaction.run();
    if (!outcome) return fail(component, std::move(outcome).error());
    component.state = component.leaving ? ComponentState::removed : ComponentState::changed;
    if (outcome->kind == Outcome::Kind::waiting) component.state = ComponentState::waiting;
    if (outcome->kind == Outcome::Kind::reboot_required) component.state = ComponentState::reboot_required;
    component.reason = outcome->reason;
  }

  /// One before it was changed in this run: what its plan leaned on may be another thing now.
  bool follows_a_change(const PlannedComponent& component) const {
    if (component.leaving) return false;
    return std::any_of(result_.run.components.begin(), result_.run.components.end(), [&](const auto& other) {
      return is_after(component, other, {ComponentState::changed, ComponentState::reboot_required});
    });
  }

  bool is_after(const PlannedComponent& component, const PlannedComponent& other,
                std::initializer_list<ComponentState> states) const {
    return std::find(states.begin(), states.end(), other.state) != states.end() &&
           comes_after(session_, component.name, other.name);
  }

  void plan_again(PlannedComponent& component) {
    const auto owned = session_.state().ownerships();
    if (!owned) return fail(component, owned.error());
    const auto earlier = owned->find(component.name);
    component = plan_component(session_, result_.run, component.name,
                               earlier == owned->end() ? nullptr : &earlier->second, options_.plan, result_.run.lock);
    if (component.error) return wait_with_others(component);
    if (auto clash = clash_of(component, result_.run, *owned)) return fail(component, std::move(*clash));
    if (const Status fetched = fetch(session_, component); !fetched) fail(component, fetched.error());
  }

  /// It cannot be planned because one before it waits or needs a reboot: its turn comes with the next apply.
  void wait_with_others(PlannedComponent& component) const {
    if (component.error->code != ErrorCode::not_found && component.error->code != ErrorCode::conflict) return;
    for (const PlannedComponent& other : result_.run.components) {
      if (!is_after(component, other, {ComponentState::reboot_required, ComponentState::waiting})) continue;
      component.state = ComponentState::deferred;
      component.reason =
          other.name + " is " + std::string(to_string(other.state)) + "; until then: " + component.error->what;
      component.error.reset();
      return;
    }
  }

  /// Every change belongs to a component that has failed already, so the root stays as it is.
  bool nothing_can_be_done() const {
    const auto& components = result_.run.components;
    return !result_.run.recovery && result_.run.pending.empty() && result_.run.failed() &&
           std::none_of(components.begin(), components.end(), [](const PlannedComponent& component) {
             return component.name != kBootComponent && !component.error && (component.changes() || component.leaving);
           });
  }

  /// A boot has nothing to finish when every component of the spec failed.
  bool boot_is_pointless(const PlannedComponent& component) const {
    const auto& components = result_.run.components;
    return component.name == kBootComponent && !component.leaving && component.record_is_new() &&
           std::none_of(components.begin(), components.end(), [](const PlannedComponent& other) {
             return other.name != kBootComponent && !other.leaving && other.state != ComponentState::failed &&
                    other.state != ComponentState::blocked;
           });
  }

  static void leave_to_no_boot(PlannedComponent& component) {
    component.state = ComponentState::blocked;
    component.reason = "no component is there that a boot could finish";
  }

  static void fail(PlannedComponent& component, Error error) {
    component.state = ComponentState::failed;
    component.error = std::move(error);
  }

  /// What comes after the components: triggers, verify, the second look, the generation, the end of the journal.
  void settle_accounts() {
    // Who names a trigger stands in the records, so without them no trigger is run: the next apply has the journal for
    // it.
    if (Status written = write_down_committed(session_, *journal_); !written) {
      result_.error = std::move(written).error();
      return;
    }
    Status done = run_pending(session_, *journal_, result_.report);
    for (PlannedComponent& component : result_.run.components)
      if (component.state == ComponentState::changed) look_again(component);
    find_what_goes_back();
    look_at_failing();
    Status closed = close(done.ok());
    if (!done)
      result_.error = std::move(done).error();
    else if (!closed)
      result_.error = std::move(closed).error();
  }

  /// There has to be something to go back to, and it has to be something else. What failed before the change fails for
  /// another reason than the change.
  void find_what_goes_back() {
    const auto current = session_.state().current();
    if (result_.run.spec.keeps_what_fails || !current || !*current || !generation_is_new(session_, result_.run)) return;
    for (const PlannedComponent& component : result_.run.components)
      if (component.state == ComponentState::failed && result_has_only_findings(component) &&
          !did_not_work(component.name) && result_.findings.contains(component.name))
        going_back_.push_back(component.name);
  }

  /// What an earlier apply could not change, or took back, worked as it was.
  bool did_not_work(const std::string& name) const {
    return failing_.contains(name) && failing_[name].contains("findings");
  }

  void look_again(PlannedComponent& component) {
    if (session_.plugins().manifest(component.name) == nullptr) return;
    if (const Status stable = check_stable(component); !stable) return fail(component, stable.error());
    verify(component, "it does not work: ");
  }

  void verify(PlannedComponent& component, const std::string& words) {
    if (session_.plugins().manifest(component.name) == nullptr) return;
    auto findings = verify_component(session_, component.name, component.section);
    if (!findings) return fail(component, std::move(findings).error());
    if (!findings->passed()) {
      component.state = ComponentState::failed;
      component.reason = words + failed_names(*findings);
    }
    result_.findings[component.name] = std::move(*findings);
  }

  /// Plans the component anew: nothing may be left to do.
  Status check_stable(const PlannedComponent& component) {
    const auto deadline = std::chrono::steady_clock::now() + kSettleTime;
    session_.forget_answers(component.name);
    for (;;) {
      SLIPWAY_TRY(owned, session_.state().ownerships());
      const auto earlier = owned.find(component.name);
      PlanOptions options = options_.plan;
      options.lock = result_.run.lock;
      Lock lock = options.lock;
      const PlannedComponent again = plan_component(session_, result_.run, component.name,
                                                    earlier == owned.end() ? nullptr : &earlier->second, options, lock);
      if (again.error) return *again.error;
      if (!again.changes()) return {};
      if (std::chrono::steady_clock::now() < deadline && stop_requested()) {
        std::this_thread::sleep_for(kSettleStep);
        continue;
      }
      const auto left =
          std::find_if(again.items.begin(), again.items.end(), [](const PlannedItem& item) { return item.changes(); });
      return Error{
          ErrorCode::plugin_defect,
          "bug in plugin " + component.name + ": right after apply it plans something else (" + left->key() + ")",
          {},
          "report it to its authors",
          {}};
    }
  }

  /// @param done  all pending triggers have run: else the journal stays, and the next run takes it up
  Status close(bool done) {
    SLIPWAY_TRY(steps, journal_->open_steps());
    SLIPWAY_TRY(pending, journal_->pending());
    const bool whole = going_back_.empty() &&
                       std::none_of(result_.run.components.begin(), result_.run.components.end(), [](const auto& c) {
                         return c.state == ComponentState::failed && !result_has_only_findings(c);
                       });
    if (whole) {
      SLIPWAY_TRY(number, record_generation(session_, result_.run));
      result_.generation = number;
    }
    SLIPWAY_CHECK(record_outputs(session_, result_.run));
    SLIPWAY_CHECK(remember_failing());
    SLIPWAY_CHECK(session_.root().sync());
    // What the journal still has to undo may need every original and layer, and so may the way back.
    if (!steps.empty()) return session_.root().sync();
    if (going_back_.empty()) {
      SLIPWAY_CHECK(drop_layers());
      SLIPWAY_CHECK(session_.state().tidy());
    }
    return done && pending.empty() ? end_journal() : session_.root().sync();
  }

  /// The journal goes last: whatever is cut off before is taken up by the next run.
  Status end_journal() {
    SLIPWAY_CHECK(session_.root().settle_directory_times());
    SLIPWAY_CHECK(session_.root().sync());
    SLIPWAY_CHECK(journal_->finish());
    session_.root().note_changed(kStateDir);
    SLIPWAY_CHECK(session_.state().leave());
    SLIPWAY_CHECK(session_.root().settle_directory_times());
    return session_.root().sync();
  }

  /// Layers that nobody leads to any more: of former generations, of what was removed, of what was undone.
  Status drop_layers() {
    for (const PlannedComponent& component : result_.run.components)
      for (const PlannedItem& item : component.items)
        if (const std::string store = item.kind->store(item.action); !store.empty())
          SLIPWAY_CHECK(drop_unused_layers(session_.root(), store));
    return {};
  }

  /// Its files are in place; only verify() is not content. The generation is in force all the same.
  static bool result_has_only_findings(const PlannedComponent& component) { return !component.error; }

  Session& session_;
  const ApplyOptions& options_;
  ApplyResult& result_;
  std::unique_ptr<Journal> journal_;
  Json failing_ = Json::object();  ///< what did not work after earlier applies
  bool cut_off_ = false;           ///< an earlier apply may not have come to verify
  std::vector<std::string> going_back_;
};

/// Applies the generation in force anew, for these components alone.
Result<ApplyResult> apply_former(Session& session, const Generation& former, const HostSpec& spec,
                                 const std::vector<std::string>& names) {
  SLIPWAY_TRY(lock, Lock::from_json(former.lock, "generation " + std::to_string(former.number)));
  ApplyOptions options;
  options.plan.only = names;
  options.plan.lock = lock;
  ApplyResult result;
  Apply apply(session, options, result);
  SLIPWAY_CHECK(apply.run(spec));
  for (const PlannedComponent& component : result.run.components)
    if (component.error) return *component.error;
  if (result.error) return *result.error;
  return result;
}

/// The same for the kernels and the hardware of that generation, which the run that failed may have had others of.
Result<ApplyResult> apply_former_as_then(Session& session, const Generation& former,
                                         const std::vector<std::string>& names, const HostSpec& now) {
  SLIPWAY_TRY(spec, host_spec_from_json(former.spec, former.spec_file, session.plugins()));
  const std::vector<std::string> kernels = session.options().kernels;
  session.set_hardware(spec.hardware);
  SLIPWAY_CHECK(session.set_kernels(former.kernels));
  auto back = apply_former(session, former, spec, names);
  session.set_hardware(now.hardware);
  SLIPWAY_CHECK(session.set_kernels(kernels));
  return back;
}

bool still_fails(const ApplyResult& back, const std::string& name) {
  const auto found = back.findings.find(name);
  return found != back.findings.end() && !found->second.passed();
}

/// Brings the components back to what the generation in force has, and says so. That they failed stays remembered.
Status go_back(Session& session, const std::vector<std::string>& names, ApplyResult& result) {
  SLIPWAY_TRY(former, session.state().current());
  if (!former) return {};
  const std::string place = "generation " + std::to_string(former->number);
  const auto back = apply_former_as_then(session, *former, names, result.run.spec);
  SLIPWAY_TRY(failing, session.state().failing());
  for (const std::string& name : names) {
    PlannedComponent& component = *result.run.find(name);
    component.reason += back ? "; it went back to what " + place + " has" : "; it could not go back to " + place;
    if (back && still_fails(*back, name)) component.reason += ", which does not work either";
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
  error.what = "what does not work could not go back to " + place + ": " + error.what;
  error.next = (error.next.empty() ? "" : error.next + "; then ") + "run `slipway rollback " +
               std::to_string(former->number) + "`";
  return error;
}

}  // namespace

Result<ApplyResult> apply_run(Session& session, const HostSpec& spec, const ApplyOptions& options) {
  SLIPWAY_TRY(lock, RootLock::take(session.host_config().root, session.host_config().live));
  SLIPWAY_CHECK(session.state().keep_private());
  ApplyResult result;
  Apply apply(session, options, result);
  const Status ran = apply.run(spec);
  if (!ran) return advised(ran.error(), session.options());
  if (!apply.going_back().empty() && !result.error)
    if (const Status back = go_back(session, apply.going_back(), result); !back) result.error = back.error();
  for (PlannedComponent& component : result.run.components)
    if (component.error) component.error = advised(std::move(*component.error), session.options());
  if (result.error) result.error = advised(std::move(*result.error), session.options());
  (void)lock;
  return result;
}

}  // namespace slipway::core
