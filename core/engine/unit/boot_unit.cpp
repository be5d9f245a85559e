// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <slipway/text.hpp>

#include "core/action/systemd/systemd.hpp"
#include "core/engine/unit/units.hpp"
#include "sandbox/unit/unit_text.hpp"

namespace slipway::core {
namespace {

constexpr const char* kUnitName = "slipway-boot.service";
constexpr const char* kVerifyUnit = "slipway-verify.service";
constexpr const char* kLateVerifyUnit = "slipway-verify-late.service";
constexpr const char* kApplyUnit = "slipway-apply.service";
constexpr const char* kReadyTarget = "slipway-ready.target";

/// Returns the units that the spec's components start before: container engines, and services that use these.
std::vector<std::string> engine_units(const Session& session, const HostSpec& spec) {
  std::set<std::string> units;
  for (const auto& [name, section] : spec.components)
    if (const Manifest* const manifest = session.plugins().manifest(name); manifest != nullptr)
      units.insert(manifest->boot_before.begin(), manifest->boot_before.end());
  return {units.begin(), units.end()};
}

/// Returns the units of the spec's services, whose states are part of a verify, and those that its components name
/// (`verify_after`).
std::vector<std::string> units_to_verify(const Session& session, const HostSpec& spec) {
  std::vector<std::string> units;
  std::set<std::string> named;
  for (const auto& [name, section] : spec.components) {
    const Manifest* const manifest = session.plugins().manifest(name);
    if (manifest == nullptr) continue;
    if (has_service(*manifest, section)) units.push_back("slipway-" + name + ".service");
    named.insert(manifest->verify_after.begin(), manifest->verify_after.end());
  }
  units.insert(units.end(), named.begin(), named.end());
  return units;
}

/// Returns "NAME has failed, its result is exit-code"; empty when it has not failed or does not exist.
std::string failure_of(const Host& host, const std::string& unit) {
  if (!has_systemd(host) || !host.exists("/etc/systemd/system/" + unit)) return {};
  const auto state = unit_state(host, unit);
  if (!state || state->active != "failed") return {};
  return unit + " has failed" + (state->result.empty() ? "" : ", its result is " + state->result);
}

/// The plugin folders of packages and of `slipway install`, which are used at a boot.
constexpr const char* kPluginFolders[] = {"/usr/lib/slipway/installed/current/lib/slipway/plugins",
                                          "/usr/lib/slipway/plugins"};

/// Checks that the root's own slipway has the plugin of each component, in these folders only.
Status check_plugins(const Session& session, const HostSpec& spec) {
  const Host& host = session.host();
  const auto has = [&](const std::string& name) {
    return std::ranges::any_of(kPluginFolders,
                               [&](const char* folder) { return host.exists(std::string(folder) + "/" + name); });
  };
  if (!has("")) return {};
  std::vector<std::string> without;
  for (const auto& [component, section] : spec.components) {
    const auto path = session.plugins().component_to_path.find(component);
    if (path == session.plugins().component_to_path.end()) continue;
    if (!has(path->second.substr(path->second.rfind('/') + 1))) without.push_back(component);
  }
  if (without.empty()) return {};
  const std::string& root = session.host_config().root;
  return Error{
      ErrorCode::not_found,
      "the slipway in this root has no plugin for " + listed(without, "and") + ", which its boot and its services need",
      root,
      "put it there with `slipway install --root " + root + " -f " + spec.file +
          "`, or the package slipway-plugins; use --without-slipway when it comes into the image in another way",
      {}};
}

}  // namespace

bool wants_boot_unit(const Session& session, const std::map<std::string, Ownership>& owned) {
  return !session.host_config().live || owned.contains(kBootComponent);
}

bool is_lost_at_a_boot(const Plan& plan) {
  return std::ranges::any_of(plan.actions(), [](const Action& action) {
    const auto kind = action_kind(action.kind());
    return kind && ((*kind)->is_lost_at_boot() || action.json().value("lost_at_boot", false));
  });
}

Status check_installed(const Session& session, const HostSpec& spec) {
  const std::string program = unit_program(session);
  const std::string& root = session.host_config().root;
  if (session.host_config().live || !session.options().sim.empty()) return {};
  if (session.host().exists(program)) return check_plugins(session, spec);
  return Error{ErrorCode::not_found,
               "slipway is not installed in this root: the units that are planned would have no " + program + " to run",
               root,
               "put it there with `slipway install --root " + root +
                   "`, or use --without-slipway when it comes into the image in another way",
               {}};
}

Plan boot_plan(const Session& session, const HostSpec& spec) {
  Plan plan;
  const std::string program = unit_program(session);
  const std::vector<std::string> engines = engine_units(session, spec);
  const std::vector<std::string> services = units_to_verify(session, spec);
  std::string before;
  for (const std::string& unit : engines) before += "Before=" + unit + "\n";
  plan
      .add(action::systemd_unit(
          {.name = kUnitName, .content = sandbox::boot_unit_text(program, before), .enabled = true, .started = false}))
      .because("modules, device nodes and the like need the running machine");
  plan.add(action::systemd_unit({.name = kVerifyUnit,
                                 .content = sandbox::verify_unit_text(program, services, false, spec.gates_boot),
                                 .enabled = spec.gates_boot,
                                 .started = false}))
      .because(spec.gates_boot ? "it verifies each boot, and a boot counts as good only when it passes"
                               : "it verifies each boot");
  plan.add(action::systemd_unit(
               {.name = kReadyTarget, .content = sandbox::ready_target_text(), .enabled = true, .started = false}))
      .because("it is reached when a boot is verified: units that need the GPUs may wait for it");
  if (!engines.empty())
    plan.add(action::systemd_unit({.name = kLateVerifyUnit,
                                   .content = sandbox::late_verify_unit_text(program, services, engines),
                                   .enabled = true,
                                   .started = false}))
        .because("components that need a container engine or a node agent are verified after its start");
  if (!session.host().exists(program))
    plan.note("the root has no " + program + " yet: install slipway there, or the boot unit has nothing to run");
  return plan;
}

std::string boot_failure(const Host& host) { return failure_of(host, kUnitName); }

std::string verify_unit_failure(const Host& host) {
  const std::string failure = failure_of(host, kVerifyUnit);
  return failure.empty() ? "" : failure + ", so that slipway-ready.target is not reached";
}

std::string late_verify_failure(const Host& host) {
  const std::string failure = failure_of(host, kLateVerifyUnit);
  return failure.empty() ? "" : failure + ": a check failed after the start of a container engine or a node agent";
}

bool an_engine_starts(const Session& session, const HostSpec& spec) {
  const Host& host = session.host();
  return has_systemd(host) && std::ranges::any_of(engine_units(session, spec), [&host](const std::string& unit) {
           const auto state = unit_state(host, unit);
           return state && (state->active == "activating" || state->queued);
         });
}

bool is_first_apply_under_way(const Host& host) {
  if (!has_systemd(host)) return false;
  const auto state = unit_state(host, kApplyUnit);
  return state && (state->running() || state->active == "activating" || state->queued);
}

std::string apply_unit_failure(const Host& host) {
  if (!has_systemd(host)) return {};
  const auto state = unit_state(host, kApplyUnit);
  const bool tries_again = state && state->sub == "auto-restart";
  if (!state || (state->active != "failed" && !tries_again)) return {};
  return std::string(kApplyUnit) + (tries_again ? " has failed and is about to try again" : " has given up") +
         (state->result.empty() ? "" : ", its result is " + state->result);
}

}  // namespace slipway::core
