// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/planner.hpp"

#include <algorithm>
#include <cstdlib>
#include <future>

#include <slipway/text.hpp>

#include "core/action/trigger/trigger.hpp"
#include "core/engine/advice.hpp"
#include "core/engine/devices.hpp"
#include "core/engine/model/relations.hpp"
#include "core/engine/packages/sources.hpp"
#include "core/engine/plan/hardware_away.hpp"
#include "core/engine/plan/interruption.hpp"
#include "core/engine/plan/items.hpp"
#include "core/engine/plan/plan_request.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/unit/units.hpp"
#include "core/graph/graph.hpp"
#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

void collect_triggers(PlannedRun& run) {
  for (const PlannedComponent& component : run.components) {
    if (component.error) continue;  // nothing of its plan will be done
    run.prospects.insert(component.prospects.begin(), component.prospects.end());
    for (const PlannedItem& item : component.items) {
      if (!item.changes()) continue;
      for (const Trigger& trigger : triggers_of(item.action))
        if (std::ranges::count(run.triggers, trigger) == 0) run.triggers.push_back(trigger);
    }
  }
}

PlannedComponent plan_removal_of(Session& session, const Ownership& owned, const PlannedRun& run) {
  PlannedComponent planned;
  planned.name = owned.component;
  planned.leaving = true;
  planned.state = ComponentState::removed;
  if (const Status filled = fill_items(session, planned, &owned, {}, run, {}); !filled) fail(planned, filled.error());
  return planned;
}

PlannedComponent plan_boot_unit(Session& session, const PlannedRun& run, const std::map<std::string, Ownership>& owned,
                                const PlanOptions& options) {
  PlannedComponent planned;
  planned.name = kBootComponent;
  planned.plan = boot_plan(session, run.spec);
  if (const Status filled = fill_items(session, planned, owned_by(kBootComponent, owned), {}, run, options); !filled)
    fail(planned, filled.error());
  else
    planned.state = planned.changes() ? ComponentState::changed : ComponentState::ready;
  return planned;
}

/// Plans the removals, in reverse of the order of installation; the boot unit last, since it serves all of them.
void plan_removals(Session& session, PlannedRun& run, const std::map<std::string, Ownership>& owned,
                   const std::function<bool(const std::string&)>& looked_at,
                   const std::function<bool(const std::string&)>& stays) {
  std::vector<const Ownership*> leavers;
  for (const auto& [name, ownership] : owned)
    if (!run.spec.has(name) && looked_at(name) && !stays(name)) leavers.push_back(&ownership);
  std::ranges::sort(leavers, std::greater{},
                    [](const Ownership* each) { return std::pair(each->component != kBootComponent, each->order); });
  for (const Ownership* ownership : leavers) run.components.push_back(plan_removal_of(session, *ownership, run));
}

/// Returns empty manifests for components whose plugin is missing. Their capabilities are not recorded, so they are
/// assumed to provide every missing capability that the spec's other components require.
std::vector<Manifest> placeholders(const Session& session, const HostSpec& spec) {
  std::vector<Manifest> missing;
  for (const auto& [name, error] : spec.unusable) {
    missing.emplace_back();
    missing.back().component = name;
  }
  if (missing.empty()) return missing;
  std::vector<const Manifest*> present;
  for (const auto& [name, section] : spec.components) present.push_back(session.plugins().manifest(name));
  for (const Manifest* const manifest : present)
    for (const std::string& name : manifest->requires_)
      if (!spec.unusable.contains(name) && components_for_name(name, manifest->component, present).empty())
        missing.front().provides.push_back(name);
  return missing;
}

/// @param others  installed components that stay besides the spec's: nothing that they require may be removed
Result<Graph> graph_of(const Session& session, const HostSpec& spec, const std::vector<std::string>& others) {
  const std::vector<Manifest> missing = placeholders(session, spec);
  std::vector<const Manifest*> manifests;
  for (const Manifest& manifest : missing) manifests.push_back(&manifest);
  for (const auto& [name, section] : spec.components)
    if (const Manifest* manifest = session.plugins().manifest(name)) manifests.push_back(manifest);
  for (const std::string& name : spec.left_out)  // components required by others are known, if not installed yet
    if (const Manifest* manifest = session.plugins().manifest(name)) manifests.push_back(manifest);
  for (const std::string& name : others)
    if (const Manifest* manifest = session.plugins().manifest(name); !spec.left_out.contains(name) && manifest)
      manifests.push_back(manifest);
  return make_graph(manifests);
}

/// Starts the workers and gets the facts of all components in parallel.
std::map<std::string, Result<Facts>> detect_all(Session& session, const HostSpec& spec,
                                                const std::vector<std::string>& names) {
  std::map<std::string, std::future<Result<Facts>>> pending;
  for (const std::string& name : names)
    if (spec.components.contains(name))
      pending.emplace(
          name, std::async(names.size() > 1 ? std::launch::async : std::launch::deferred, [&session, &spec, name] {
            return detect_component(session, name, spec.components.at(name));
          }));
  std::map<std::string, Result<Facts>> facts;
  for (auto& [name, future] : pending) facts.emplace(name, future.get());
  return facts;
}

/// Returns true when a component cannot be planned now because of the components that it requires, after setting its
/// state.
bool is_blocked_by_requirement(PlannedComponent& planned, PlannedRun& run, const Graph& graph) {
  const auto required = graph.requires_.find(planned.name);
  if (required == graph.requires_.end()) return false;
  for (const std::string& name : required->second) {
    const PlannedComponent* other = run.find(name);
    if (other == nullptr) continue;
    if (other->state == ComponentState::failed || other->state == ComponentState::blocked) {
      planned.state = ComponentState::blocked;
      planned.blocked_by = name;
      planned.reason = "it requires " + name + ", which is " + std::string(to_string(other->state));
      return true;
    }
    if (other->state == ComponentState::deferred) {
      planned.state = ComponentState::deferred;
      planned.reason = "it requires " + name + ", which is planned later";
      return true;
    }
  }
  return false;
}

/// Defers a component that cannot be planned, when an earlier component may make what this one lacks.
void defer_behind_changes(const Session& session, PlannedComponent& planned, const PlannedRun& run) {
  if (planned.state != ComponentState::failed || !planned.error) return;
  if (planned.error->code != ErrorCode::not_found && planned.error->code != ErrorCode::conflict) return;
  for (const PlannedComponent& other : run.components) {
    if (!comes_after(session, planned.name, other.name)) continue;
    if (!other.changes() && other.state != ComponentState::deferred) continue;
    planned.state = ComponentState::deferred;
    planned.reason = "planned once " + other.name + " is done; now: " + planned.error->what;
    planned.error.reset();
    planned.items.clear();
    return;
  }
}

/// Marks a component that is planned from the devices, when an earlier component changes them. Services are quiesced
/// for that change.
void follow_devices(const Session& session, PlannedComponent& planned, const PlannedRun& run) {
  const auto changes_devices = [](const PlannedItem& item) {
    return item.changes() && !item.removal && item.action.json().value("quiesces_services", false);
  };
  for (const PlannedComponent& other : run.components)
    if (comes_after(session, planned.name, other.name) && std::ranges::any_of(other.items, changes_devices))
      planned.follows = other.name;
}

/// Names the variables of secrets in the plan, and refuses the plan when a variable is not set: otherwise an apply
/// would fail halfway. A boot does not have the user's variables, and a component that needs one then reports that
/// itself.
Status name_variables(const Session& session, const Manifest& manifest, PlannedComponent& planned) {
  for (const NamedSecret& secret : secrets_of(planned.section, manifest.spec)) {
    if (secret.variable.empty() || session.host_config().booting) continue;
    if (std::getenv(secret.variable.c_str()) == nullptr)
      return Error{ErrorCode::not_found,
                   secret.key + " should be read from the variable " + secret.variable + ", which is not set",
                   "spec.components." + planned.name + "." + secret.key,
                   "set the variable for this command (through sudo: `sudo --preserve-env=" + secret.variable +
                       "`), or write {file: PATH}",
                   {}};
    planned.plan.note(
        secret.key + " is read from the variable " + secret.variable +
        (manifest.service == Manifest::ServiceIn::none
             ? std::string()
             : ", which the service does not get: for a secret that the service reads, write {file: PATH}"));
  }
  return {};
}

void plan_from_facts(Session& session, PlannedComponent& planned, const PlannedRun& run, const Ownership* owned,
                     const PlanOptions& options, Lock& lock) {
  if (!planned.facts.applicable()) {
    if (session.host_config().hardware != "detect")
      return fail(planned, not_installable(session, {planned.name}, planned.facts));
    planned.state = ComponentState::not_applicable;
    planned.reason = planned.facts.why_not();
    if (!asks_for_other_files(run, planned.name, owned)) return;
    auto assumed = detect_component(session, planned.name, planned.section, "assume");
    if (!assumed) return fail(planned, std::move(assumed).error());
    if (!assumed->applicable()) return;
    planned.facts = std::move(*assumed);
  }
  const std::string missing_reason = planned.reason;
  const Manifest* manifest = session.plugins().manifest(planned.name);
  const auto sources = named_sources(*manifest, planned.section);
  const PlanRequest asking{session, planned.name, planned.section, planned.facts, outputs_before(run, planned.name),
                           options};
  auto plan = ask_for_plan(asking, sources, lock);
  if (!plan) return fail(planned, std::move(plan).error());
  planned.plan = missing_reason.empty() ? std::move(*plan) : without_hardware(*plan, *owned, missing_reason);
  if (const auto remarks = run.spec.remarks.find(planned.name); remarks != run.spec.remarks.end())
    for (const std::string& remark : remarks->second) planned.plan.note(remark);
  if (const Status named = name_variables(session, *manifest, planned); !named) return fail(planned, named.error());
  if (const Status typed = check_outputs(*manifest, planned.plan.outputs()); !typed)
    return fail(planned, typed.error());
  if (const Status unit = add_service_unit(session, *manifest, planned.section, planned.plan); !unit)
    return fail(planned, unit.error());
  if (const Status filled = fill_items(session, planned, owned, sources, run, options); !filled)
    return fail(planned, filled.error());
  if (!missing_reason.empty() && !planned.changes()) return;
  planned.state = planned.changes() ? ComponentState::changed : ComponentState::ready;
  planned.reason.clear();
}

/// Adds warnings that no component's plan contains, about an apply that would succeed with a surprising result.
void add_warnings(const Session& session, const std::vector<std::string>& names, PlannedRun& run) {
  const auto warn = [&](Finding finding) {
    finding.status = Finding::Status::warning;
    run.warnings.add(std::move(finding));
  };
  if (auto found = check_expectation(session, run.spec.expected))
    if (found->status == Finding::Status::fail || found->status == Finding::Status::warning) warn(std::move(*found));
  const auto is_left_out = [&](const std::string& name) {
    return run.find(name)->state == ComponentState::not_applicable;
  };
  if (!session.host().has_kernel_view() && !names.empty() && std::ranges::all_of(names, is_left_out))
    warn({Finding::Status::warning,
          "slipway.hardware",
          "none of the spec's components is put into this image: " + listed(names, "and") +
              (names.size() == 1 ? " is" : " are") + " not applicable, as an image shows no devices",
          kAssumeHardware,
          {}});
}

}  // namespace

Status check_names(const std::vector<std::string>& names, const HostSpec& spec,
                   const std::map<std::string, Ownership>& owned) {
  for (const std::string& name : names) {
    if (spec.has(name) || owned.contains(name)) continue;
    std::vector<std::string> known;
    for (const auto& [component, section] : spec.components) known.push_back(component);
    return Error{ErrorCode::usage,
                 "the component '" + name + "' is neither in the spec nor installed here",
                 "command line",
                 suggestion(name, known, "name components of the spec (" + spec.file + ")"),
                 {}};
  }
  return {};
}

bool comes_after(const Session& session, const std::string& component, const std::string& other) {
  const Manifest* manifest = session.plugins().manifest(component);
  const Manifest* before = session.plugins().manifest(other);
  if (manifest == nullptr || before == nullptr) return false;
  return is_among(*before, manifest->after) || is_among(*before, manifest->requires_);
}

/// A component built with an SDK without preflight has nothing to report.
static Result<Outcome> preflight(Session& session, const std::string& component, const Action& action) {
  const auto reply = session.call(component, "preflight",
                                  {{"action", action.json()}, {"host", to_json(session.host_config())}}, kVerifyLimit);
  if (!reply && reply.error().code == ErrorCode::unsupported) return Outcome::done();
  return reply ? outcome_from_json(*reply) : reply.error();
}

ActionContext make_context(Session& session, const std::string& component, LayerStager& layers, const Json& record,
                           const Image& original) {
  ActionContext context{.root = session.root(),
                        .host = session.host(),
                        .layers = layers,
                        .record = record,
                        .original = original,
                        .custom_check = {},
                        .custom_apply = {}};
  const Json host = to_json(session.host_config());
  context.custom_check = [&session, component, host](const Action& action) -> Result<bool> {
    SLIPWAY_TRY(reply, session.call(component, "check", {{"action", action.json()}, {"host", host}}, kVerifyLimit));
    return reply.is_boolean() && reply.get<bool>();
  };
  context.custom_preflight = [&session, component](const Action& action) {
    return preflight(session, component, action);
  };
  context.custom_apply = [&session, component, host](const Action& action) -> Result<Outcome> {
    if (base::ExclusiveUse::is_needed_for(action)) {
      SLIPWAY_TRY(admitted, preflight(session, component, action));
      if (admitted.kind != Outcome::Kind::done) return admitted;
      SLIPWAY_TRY(alone, session.exclusive_use.take(session.host(), action));
      if (alone.kind != Outcome::Kind::done) return alone;
    }
    SLIPWAY_TRY(reply, session.call(component, "apply", {{"action", action.json()}, {"host", host}}, kActionLimit));
    return outcome_from_json(reply);
  };
  return context;
}

Result<Facts> detect_component(Session& session, const std::string& name, const Json& section,
                               const std::string& hardware) {
  Json host = to_json(session.host_config());
  if (!hardware.empty()) host["hardware"] = hardware;
  // The component reports missing hardware as if it could be left out; the core decides that this is an error.
  if (session.host_config().hardware == "require") host["hardware"] = "detect";
  SLIPWAY_TRY(reply, session.call(name, "detect", {{"spec", section}, {"host", std::move(host)}}, kDetectLimit));
  return facts_from_json(reply);
}

PlannedComponent plan_component(Session& session, const PlannedRun& run, const std::string& name,
                                const Ownership* owned, const PlanOptions& options, Lock& lock) {
  PlannedComponent planned;
  planned.name = name;
  planned.section = run.spec.components.at(name);
  auto facts = detect_component(session, name, planned.section);
  if (!facts) {
    fail(planned, std::move(facts).error());
    return planned;
  }
  planned.facts = std::move(*facts);
  plan_from_facts(session, planned, run, owned, options, lock);
  return planned;
}

Result<PlannedRun> plan_run(Session& session, HostSpec spec, const PlanOptions& options, Journal* journal) {
  PlannedRun run;
  run.spec = std::move(spec);
  run.lock = options.lock;
  run.partial = !options.only.empty();
  run.kernel = session.host().kernel_release().value_or("");
  session.silent_registries().clear();
  run.without_records = session.state().is_closed();
  SLIPWAY_CHECK(session.state().check_whole());
  SLIPWAY_TRY(owned, session.state().ownerships());
  SLIPWAY_CHECK(check_names(options.only, run.spec, owned));
  SLIPWAY_TRY(unfinished, journal == nullptr ? read_unfinished(session) : unfinished_of(*journal));
  if (unfinished.damaged) return *unfinished.damaged;
  run.recovery = unfinished.recovery;
  run.pending = unfinished.pending;
  SLIPWAY_TRY(failing, session.state().failing());
  run.failing = failing;
  SLIPWAY_TRY(current, session.state().current());
  if (current) run.in_force = current->spec;
  if (const auto& base = options.back_to ? options.back_to : current) run.accepted = base->accepted;

  const auto looked_at = [&](const std::string& name) {
    return options.only.empty() || std::find(options.only.begin(), options.only.end(), name) != options.only.end();
  };
  std::vector<std::string> others;
  for (const auto& [name, ownership] : owned)
    if (!run.spec.has(name) && (!looked_at(name) || options.keeps_others)) others.push_back(name);
  SLIPWAY_TRY(graph, graph_of(session, run.spec, others));
  run.order = graph.order;
  for (const auto& [name, ownership] : owned)
    if (run.spec.has(name)) (looked_at(name) ? run.recorded : run.handed_on)[name] = ownership.outputs;
  bool boot = !(run.spec.components.empty() && run.spec.unusable.empty()) &&
              (run.spec.gates_boot || wants_boot_unit(session, owned));
  plan_removals(session, run, owned, looked_at,
                [&](const std::string& name) { return name == kBootComponent ? boot : options.keeps_others; });
  std::vector<std::string> names;
  std::copy_if(graph.order.begin(), graph.order.end(), std::back_inserter(names),
               [&](const std::string& name) { return looked_at(name) && run.spec.has(name); });
  auto facts = detect_all(session, run.spec, names);
  for (const std::string& name : names) {
    PlannedComponent planned;
    planned.name = name;
    if (const auto unusable = run.spec.unusable.find(name); unusable != run.spec.unusable.end()) {
      fail(planned, unusable->second);
      run.components.push_back(std::move(planned));
      continue;
    }
    planned.section = run.spec.components.at(name);
    Result<Facts>& found = facts.at(name);
    if (!found) {
      fail(planned, found.error());
    } else if (!is_blocked_by_requirement(planned, run, graph)) {
      planned.facts = std::move(*found);
      plan_from_facts(session, planned, run, owned_by(name, owned), options, run.lock);
    }
    defer_behind_changes(session, planned, run);
    follow_devices(session, planned, run);
    boot = boot || is_lost_at_a_boot(planned.plan);
    run.components.push_back(std::move(planned));
  }
  if (boot && options.needs_slipway) SLIPWAY_CHECK(check_installed(session, run.spec));
  if (boot) run.components.push_back(plan_boot_unit(session, run, owned, options));
  find_clashes(run, owned, session);
  name_all_not_installable(session, run);
  add_warnings(session, names, run);
  collect_triggers(run);
  run.on_machine = session.host().has_kernel_view();
  run.interruption = interruption_of(run.components, session.host());
  for (PlannedComponent& component : run.components)
    if (component.error) component.error = advised(std::move(*component.error), session.options());
  return run;
}

}  // namespace slipway::core
