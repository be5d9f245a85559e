// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/verify.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <slipway/text.hpp>

#include "core/engine/advice.hpp"
#include "core/engine/devices.hpp"
#include "core/engine/packages/layers.hpp"
#include "core/engine/plan/edits.hpp"
#include "core/engine/plan/hardware_away.hpp"
#include "core/engine/plan/planner.hpp"
#include "core/engine/records/failing_components.hpp"
#include "core/engine/records/generations.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/unit/units.hpp"
#include "core/engine/verify/causes.hpp"
#include "core/engine/verify/services.hpp"

namespace slipway::core {
namespace {

/// True when the component's own actions are not complete, and its finding about the last apply says so.
bool is_on_its_way(const Json& record) {
  const std::string state = record.value("state", "");
  return state == to_string(ComponentState::waiting) || state == to_string(ComponentState::reboot_required) ||
         (state == to_string(ComponentState::failed) && !record.contains("findings"));
}

/// Describes a difference from slipway's record. The summary of a custom action would describe its last change.
std::string text_of(const Owned& item, const Check& check) {
  if (check.problem) return check.problem->what;
  if (item.action.kind() == "custom") return kOwnWorkDiffers + item.action.target();
  return check.summary.empty() ? item.key() + " differs" : "an apply would " + check.summary;
}

/// Returns one finding for all that a component owns: unchanged, or the differences.
/// @param later  see is_on_its_way()
Result<Finding> check_owned(Session& session, const Ownership& owned, const Json& accepted, bool deep, bool later) {
  ComponentLayers layers(session, owned.component, {});
  std::string problems;
  bool plan = false;               // an apply fixes a problem
  bool inside = false;             // a difference inside an unpacked tree, which a plan does not look for
  std::vector<std::string> edits;  // edits that an apply keeps
  const auto note = [&](const std::string& text) { problems += (problems.empty() ? "" : "; ") + text; };
  for (const Owned& item : owned.items) {
    SLIPWAY_TRY(kind, action_kind(item.action.kind()));
    ActionContext context = make_context(session, owned.component, layers, item.record, item.original);
    SLIPWAY_TRY(check, kind->check(item.action, context));
    settle_accepted(check, item.action, accepted);
    const bool fine = check.standing == Check::Standing::satisfied || check.standing == Check::Standing::at_boot ||
                      (later && item.action.kind() == "custom");
    if (!fine) {
      note(text_of(item, check));
      plan = plan || check.standing != Check::Standing::drift_kept;
    }
    if (check.edit) edits.push_back(check.edit->path);
    if (!deep) continue;
    SLIPWAY_TRY(found, kind->inspect(item.action, context));
    for (const std::string& problem : found) note(problem);
    inside = inside || (fine && !found.empty());
  }
  const std::string name = owned.component + ".owned";
  if (problems.empty())
    return Finding{Finding::Status::pass,
                   name,
                   (owned.items.size() == 1 ? "1 thing is as slipway left it"
                                            : std::to_string(owned.items.size()) + " things are as slipway left them") +
                       (deep ? ", byte for byte" : ""),
                   {}};
  std::vector<std::string> remedies;
  if (plan) remedies.emplace_back("`slipway plan` shows what an apply would put right");
  if (!edits.empty()) remedies.push_back(edit_remedies(edits));
  if (inside) remedies.push_back("`slipway remove " + owned.component + "` and then `slipway apply` unpack it again");
  return Finding{Finding::Status::fail, name, problems, advised(joined(remedies, "; "), session.options())};
}

/// Returns a finding for a component that an apply leaves out because it has nothing to do here: there is nothing to
/// verify.
std::optional<Finding> has_nothing_here(Session& session, const std::string& name, const Json& section, bool is_owned) {
  const auto facts = detect_component(session, name, section);
  if (!facts || facts->applicable()) return std::nullopt;
  const std::string finding = name + std::string(kApplies);
  if (!is_owned && session.host_config().hardware == "require")
    return Finding{Finding::Status::fail, finding,
                   facts->why_not() + ", and spec.hardware = require asks for the hardware",
                   remedy_for_required_hardware(session, {name})};
  if (!is_owned) return Finding{Finding::Status::not_applicable, finding, facts->why_not(), {}};
  return Finding{Finding::Status::warning, finding,
                 "the component is installed, but has nothing to do on this host: " + facts->why_not(),
                 "do nothing if this host should have no such device; else check that the kernel finds it (`lspci`), "
                 "or run `slipway remove " +
                     name + "`"};
}

constexpr const char* kLookAtBoot =
    "look at `journalctl -u slipway-boot.service`, then start the unit again: `systemctl restart slipway-boot.service`";

/// Adds the results of this boot's units.
void add_boot(const Session& session, std::map<std::string, Findings>& all) {
  const bool booting = session.host_config().booting;
  const auto status = booting ? Finding::Status::fail : Finding::Status::warning;  // a boot that failed is not ready
  if (const std::string problem = boot_failure(session.host()); !problem.empty())
    all[kBootComponent].add({status, std::string(kBootComponent) + ".boot", problem, kLookAtBoot});
  if (const std::string problem = booting ? "" : verify_unit_failure(session.host()); !problem.empty())
    all[kBootComponent].add(
        {Finding::Status::warning, std::string(kBootComponent) + ".verify", problem, kVerifyBootAgain});
  if (const std::string problem = booting ? "" : late_verify_failure(session.host()); !problem.empty())
    all[kBootComponent].add(
        {Finding::Status::warning, std::string(kBootComponent) + ".verify-late", problem, kVerifyLateAgain});
  if (const std::string problem = apply_unit_failure(session.host()); !problem.empty())
    all["slipway"].add({Finding::Status::warning, "slipway.apply-unit", problem, kStartApplyUnitAgain});
}

/// Returns the components that the spec describes as the active generation does: a failed apply has restored them.
std::set<std::string> as_in_force(const Session& session, const HostSpec& spec, const Generation& current) {
  std::set<std::string> names;
  const auto in_force = spec_of(current, session.plugins());
  if (!in_force) return names;
  for (const auto& [name, section] : spec.components) {
    const auto found = in_force->components.find(name);
    if (found != in_force->components.end() && found->second == section && current.plugins.contains(name))
      names.insert(name);
  }
  return names;
}

/// Returns the keys of a section that differ between two specs: "source.digest, version".
std::string other_keys(const Json& wanted, const Json& applied, const std::string& before = "") {
  std::set<std::string> names;
  for (const Json* section : {&wanted, &applied})
    for (const auto& [key, value] : section->items()) names.insert(key);
  std::vector<std::string> other;
  for (const std::string& key : names) {
    const Json one = wanted.value(key, Json());
    const Json another = applied.value(key, Json());
    if (one == another) continue;
    other.push_back(before.empty() && one.is_object() && another.is_object() ? other_keys(one, another, key + ".")
                                                                             : before + key);
  }
  return joined(other, ", ");
}

/// With -f, the spec may never have been applied. Adds its differences that no finding of the component covers.
void add_differences(const Session& session, const HostSpec& spec, const Generation& current, const Json& failing,
                     const std::function<bool(const std::string&)>& looked_at, std::map<std::string, Findings>& all) {
  if (session.options().spec.empty()) return;
  const auto applied = spec_of(current, session.plugins());
  if (!applied) return;
  for (const auto& [name, section] : spec.components) {
    const auto found = applied->components.find(name);
    if (!looked_at(name) || failing.contains(name) || found == applied->components.end() || found->second == section)
      continue;
    all[name].add({Finding::Status::warning, name + ".spec",
                   "what is applied (generation " + std::to_string(current.number) +
                       ") is not what this spec says: " + other_keys(section, found->second),
                   advised("`slipway plan` shows what an apply would change", session.options())});
  }
}

/// Returns the result of the component's last apply, where verify cannot determine it itself.
/// @param is_in_force  the verified state is not what that apply wanted, but the state before it
/// @param is_here      something was applied before
Finding last_apply(const Session& session, const HostSpec& spec, const std::string& name, const Json& record,
                   bool is_in_force, bool is_here) {
  if (record.value("removal", false))
    return Finding{
        Finding::Status::fail, name + ".removal", "the component could not be removed: " + failing_text(record),
        advised("run `slipway remove " + name + "` again, or `slipway apply` to keep it", session.options())};
  const std::string state = record.value("state", "");
  const bool is_left_out = spec.left_out.contains(name);  // of the generation, which is the spec that contains it
  const bool ended_badly = state == "failed" || state == "blocked";
  // A component that waits for a job will be installed later; a component that waits for its source has nothing
  // installed.
  const bool is_unreachable = record.value("unreachable", false);
  const bool never_came = state == "waiting" && (!is_here || is_unreachable);
  const bool failed = (ended_badly || never_came) && !is_in_force;
  const bool is_named = !session.options().spec.empty();  // advised() then adds it
  const std::string file = is_named ? "" : failing_spec(record);
  const std::string again = "`slipway apply" + file + (is_unreachable ? " --wait-for-source`" : "`");
  const std::string told = record.value("do", "");  // with the options of that apply
  return Finding{
      failed ? Finding::Status::fail : Finding::Status::warning, name + ".apply",
      "the last apply left it " + state + ": " + failing_text(record),
      state == to_string(ComponentState::reboot_required) ? std::string(kReboot)
      : is_left_out && file.empty() && !is_named
          ? advised("run `slipway apply -f SPEC` again, with the spec that has the component", session.options())
      : told.empty()        ? advised("run " + again + " again", session.options())
      : advises_apply(told) ? told
                            : told + advised("; then run " + again + " again", session.options()),
      record.contains("blocked_by") ? record.value("blocked_by", "") + ".apply" : ""};
}

/// Returns the finding for a component without a plugin: nothing of it can be verified.
Finding unusable_finding(const Session& session, const std::string& name, const Error& error) {
  const auto shown = [](const auto& detail) { return "; " + detail.first + ": " + detail.second; };
  return {Finding::Status::fail, name + ".plugin", error.what + joined(error.details, "", shown),
          advised(error.next, session.options())};
}

/// Returns the finding for a component that cannot be checked: its plugin, which knows its own actions, is missing or
/// crashes.
Finding unchecked_finding(const Session& session, const HostSpec& spec, const std::string& name, const Error& error) {
  return {Finding::Status::fail, name + ".owned", "slipway could not check what it has made: " + text_with_file(error),
          advised(error.next, session.options()), spec.unusable.contains(name) ? name + ".plugin" : ""};
}

/// Adds findings that no component can report: an interrupted apply has left changes half done, or pending triggers.
/// @return  true when another slipway is at work
Result<bool> add_unfinished(Session& session, std::map<std::string, Findings>& all) {
  SLIPWAY_TRY(unfinished, read_unfinished(session));
  const auto& options = session.options();
  if (!unfinished.at_work.empty())
    all["slipway"].add({Finding::Status::warning, kApplyFinding,
                        "another slipway is changing this root: " + unfinished.at_work,
                        "run the same command again when that slipway has ended"});
  if (unfinished.recovery)
    all["slipway"].fail(kApplyFinding, "an apply was cut off, and its changes are half done",
                        advised("`slipway apply` undoes its open changes first", options));
  if (!unfinished.pending.empty())
    all["slipway"].fail("slipway.pending", "still pending from an earlier apply: " + listed(unfinished.pending, "and"),
                        advised("run `slipway apply` again", options));
  return !unfinished.at_work.empty();
}

}  // namespace

Result<Findings> verify_component(Session& session, const std::string& name, const Json& section) {
  SLIPWAY_TRY(
      reply, session.call(name, "verify", {{"spec", section}, {"host", to_json(session.host_config())}}, kVerifyLimit));
  SLIPWAY_TRY(findings, findings_from_json(reply));
  return advised_by_plugin(findings, session);
}

Result<std::map<std::string, Findings>> verify_run(Session& session, const HostSpec& spec,
                                                   const VerifyOptions& options) {
  SLIPWAY_CHECK(session.state().check_format());
  SLIPWAY_TRY(owned, session.state().ownerships());
  SLIPWAY_TRY(failing, session.state().failing());
  std::vector<std::string> names = options.only;
  std::erase_if(names, [&failing](const std::string& name) { return failing.contains(name); });
  SLIPWAY_CHECK(check_names(names, spec, owned));
  std::map<std::string, Findings> all;
  SLIPWAY_TRY(apply_runs, add_unfinished(session, all));
  add_boot(session, all);
  const auto looked_at = [&](const std::string& name) {
    return options.only.empty() || std::find(options.only.begin(), options.only.end(), name) != options.only.end();
  };
  SLIPWAY_TRY(current, applied_now(session));
  const Json accepted = current ? current->accepted : Json::object();
  for (const auto& [name, ownership] : owned) {
    if (!looked_at(name)) continue;
    const bool later = is_on_its_way(failing.value(name, Json::object()));
    auto finding = check_owned(session, ownership, accepted.value(name, Json::object()), options.deep, later);
    all[name].add(finding ? std::move(*finding) : unchecked_finding(session, spec, name, finding.error()));
  }
  std::set<std::string> in_force;
  if (!failing.empty() && current) in_force = as_in_force(session, spec, *current);
  if (current) add_differences(session, spec, *current, failing, looked_at, all);
  const auto is_here = [&](const std::string& name) {  // a component that had nothing to do owns nothing
    return owned.contains(name) || (current && current->plugins.contains(name));
  };
  // Includes components that were left out, which neither the active spec nor any record has.
  for (const auto& [name, record] : failing.items())
    if (looked_at(name) && !spec.unusable.contains(name) &&
        !(record.contains("findings") && spec.components.contains(name)))
      all[name].add(last_apply(session, spec, name, record, in_force.contains(name), is_here(name)));
  for (const auto& [name, error] : spec.unusable)
    if (looked_at(name)) all[name].add(unusable_finding(session, name, error));
  const auto services = ask_services(session);
  for (const auto& [name, section] : spec.components) {
    if (!looked_at(name)) continue;
    session.ui().looking("verify " + name + " …");
    if (auto finding = has_nothing_here(session, name, section, owned.contains(name))) {
      const bool is_owned = finding->status == Finding::Status::warning;
      all[name].add(std::move(*finding));
      // Installed components are verified all the same: an image may be booted for a test, without a GPU.
      if (!is_owned) continue;
    } else if (const auto service = services.find(name);
               service != services.end() && has_service(*session.plugins().manifest(name), section)) {
      all[name].add(service_finding(session, name, service->second));
    }
    auto findings = verify_component(session, name, section);
    if (!findings) {
      all[name].fail(name + ".verify", text_with_file(findings.error()), findings.error().next);
      continue;
    }
    for (const Finding& finding : findings->list()) all[name].add(finding);
    // A component without hardware has ended above. The checks of a component that was never applied may all be
    // skipped.
    const bool unknown = session.state().leaves_out("components/" + name + ".json");
    if (!is_here(name) && !unknown)
      all[name].fail(name + ".owned", name + " is not provisioned here",
                     advised("`slipway apply` provisions it", session.options()));
    if (const Json record = failing.value(name, Json::object()); record.contains("findings") && all[name].passed())
      all[name].add(
          {Finding::Status::warning, name + ".apply",
           "the component did not work after the last apply, but none of its checks fails now: " + failing_text(record),
           advised("`slipway apply` checks it again, and drops this warning", session.options())});
  }
  session.ui().looking({});
  if (auto finding = check_expectation(session, spec.expected, silent_gpus(all)))
    all["slipway"].add(std::move(*finding));
  name_causes(all, apply_runs);
  return all;
}

}  // namespace slipway::core
