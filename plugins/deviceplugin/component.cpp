// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/component.hpp"

#include <cstdlib>

#include "deviceplugin/cdi_needs.hpp"
#include "deviceplugin/conflicts.hpp"
#include "deviceplugin/devices/resources.hpp"
#include "deviceplugin/kubelet_version.hpp"
#include "deviceplugin/list_strategy.hpp"
#include "deviceplugin/memory.hpp"
#include "deviceplugin/offer_check.hpp"
#include "deviceplugin/other_plugin.hpp"
#include "deviceplugin/status.hpp"
#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/flags.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/gpu_managers.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::int64_t kLongestQuietSeconds = 86400;  // a day

std::vector<std::string> words_of(const Settings& settings) {
  std::vector<std::string> words;
  for (const ListStrategy each : settings.list_strategies) words.emplace_back(to_string(each));
  return words;
}

/// Adds notes to the plan about the dangers that sharing does not prevent.
void warn_of_sharing(const Settings& settings, Plan& plan) {
  if (settings.sharing.kind == SharingKind::time_slicing)
    plan.note(
        "time-slicing does not divide the memory: one container can take all of it, and the others on that GPU then "
        "fail "
        "with out-of-memory errors. MPS (sharing.mps) gives each client a limit; MIG isolates memory and faults");
  if (settings.sharing.kind == SharingKind::mps)
    plan.note(
        "MPS limits the memory of each client process, not of a container, and a fault of one client ends all clients");
  if (settings.sharing.kind == SharingKind::mps && settings.sharing.mps_memory_percent > kWholeShare)
    plan.note(
        "with sharing.mps.oversubscription the limits of a GPU's clients add up to more than its memory: they can "
        "exhaust it together");
}

constexpr const char* kWatcherIsLate =
    "with registration: watcher, kubelet takes up to a second after its start to find the resources, and rejects "
    "pods that were bound to this node before";

bool waits_for_the_watcher(const Spec& spec) { return spec.text("registration") == "watcher"; }

OwnPlugin own_plugin(const Registered& seen) {
  return {.resources = seen.status ? offered_since_boot(*seen.status) : std::set<std::string>()};
}

std::string text_output(const Inputs& inputs, const char* name) {
  const Json value = inputs.output("runtime", name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// Reads the settings as the service will have them on this host.
Result<Settings> settings_as_applied(const Spec& spec, const Host& host) {
  SLIPWAY_TRY(settings, read_settings(spec, "deviceplugin", host, no_environment));
  ListStrategyChoice(host, spec.text("kubelet_root")).apply(settings);
  return std::move(settings);
}

/// Sets in `settings` how containers get devices, and checks that the container engine supports it.
Status plan_devices(const Spec& spec, const Facts& facts, const Inputs& inputs, Plan& plan) {
  Settings settings;
  settings.list_strategies_given = facts.flag("strategy.given");
  settings.pass_device_specs = facts.flag("passes_nodes");
  if (settings.list_strategies_given)
    SLIPWAY_CHECK(set_list_strategies(node_from_json(facts.value("strategy.words"), ""), settings));
  const Json cdi = facts.value("cdi");  // the CDI specs that are needed if the strategy uses CDI
  auto missing = missing_in_cdi(cdi, inputs);
  const StrategyGround ground{.has_runtime = spec.section_of("runtime").has_value(),
                              .has_cdi = spec.section_of("cdi").has_value(),
                              .cdi_has_devices = !missing,
                              .engine_has_cdi = inputs.output("runtime", "cdi") == Json(true),
                              .kubelet = facts.text("kubelet.no_cdi")};
  if (!settings.list_strategies_given) settings.list_strategies = {plan_list_strategy(ground, plan)};
  if (settings.any_cdi()) {
    if (missing) return std::move(*missing);
    if (std::string note = cdi_note(cdi, inputs); !note.empty()) plan.note(std::move(note));
  }
  return check_handler(settings, text_output(inputs, "handler"), text_output(inputs, "handlers"), ground, plan);
}

}  // namespace

Result<Facts> DevicePlugin::detect(const Spec& spec, const Host& host) const {
  if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
  Facts facts;
  add_other_plugin_units(host, facts);
  const std::string kubelet = spec.text("kubelet_root");
  if (host.has_kernel_view() && host.exists(kubelet + "/device-plugins"))
    add_other_plugins(host, kubelet, own_plugin(read_registered(host, kubelet)), facts);
  // The content of a config file is a fact: plan() reads no files.
  auto settings = read_settings(spec, "deviceplugin", host, no_environment);
  if (!settings) {
    facts.set("problem", to_json(settings.error()));
    return facts;
  }
  facts.set("sharing", to_string(settings->sharing.kind));
  facts.set("mps_memory_percent", settings->sharing.mps_memory_percent);
  const OfferCheck offer = check_offer(*settings, spec.text("driver_root"), host);
  if (offer.problem) facts.set("problem", to_json(*offer.problem));
  std::vector<std::string> warnings = settings->warnings;
  warnings.insert(warnings.end(), offer.remarks.begin(), offer.remarks.end());
  facts.set("warnings", warnings);
  facts.set("passes_nodes", settings->pass_device_specs);
  facts.set("strategy.given", settings->list_strategies_given);
  if (settings->list_strategies_given) {
    facts.set("strategy.words", words_of(*settings));
  } else {
    settings->list_strategies = {ListStrategy::cdi_cri};
    facts.set("kubelet.no_cdi", why_no_cdi_devices(read_kubelet_version(host), host, spec.text("kubelet_root")));
  }
  facts.set("cdi", cdi_needs(*settings, spec.text("cdi_vendor"), host));
  return facts;
}

Result<Plan> DevicePlugin::plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const {
  if (facts.has("problem")) return error_from_json(facts.value("problem"));
  if (const std::int64_t quiet = spec.number("quiet_seconds"); quiet < 0 || quiet > kLongestQuietSeconds)
    return Error{.code = ErrorCode::invalid,
                 .what = "quiet_seconds is " + std::to_string(quiet),
                 .where = "spec.components.deviceplugin.quiet_seconds",
                 .next = "write a number of seconds from 0 to " + std::to_string(kLongestQuietSeconds)};
  Plan plan;
  SLIPWAY_CHECK(plan_devices(spec, facts, inputs, plan));
  nvidia::GpuManagers managers;
  const Json named = spec.value("managers");
  if (named.is_object())
    for (const auto& [gpu, manager] : named.items()) managers.of[gpu] = manager;
  plan.add(action::file(
               {.path = nvidia::kManagersFile, .content = pretty(nvidia::to_json(managers)), .on_drift = "replace"}))
      .because("tells each device plugin which GPUs it manages");
  Settings settings;
  const std::string sharing = facts.text("sharing");
  settings.sharing.mps_memory_percent = facts.value("mps_memory_percent").get<unsigned>();
  if (sharing != "none") settings.sharing.kind = sharing == "mps" ? SharingKind::mps : SharingKind::time_slicing;
  warn_of_sharing(settings, plan);
  if (waits_for_the_watcher(spec)) plan.note(kWatcherIsLate);
  SLIPWAY_CHECK(add_other_plugin(nvidia::other_program_policy(spec.text("other_plugin")), facts, plan));
  if (settings.sharing.kind == SharingKind::mps)
    plan.add(action::systemd_unit({.name = "slipway-mps.slice",
                                   .content = "[Unit]\nDescription=slipway: the MPS control daemons of deviceplugin\n",
                                   .enabled = false,
                                   .started = false}))
        .because("MPS control daemons run beside the service, so that its restarts do not end their clients");
  for (const std::string& warning : facts.texts("warnings")) plan.note(warning);
  return plan;
}

Result<Findings> DevicePlugin::verify(const Spec& spec, const Host& host) const {
  Findings findings;
  const std::string kubelet_root = spec.text("kubelet_root");
  const auto seen = host.booting() ? read_registered(host, kubelet_root) : wait_for_kubelet(host, kubelet_root);
  add_findings(seen, findings);
  add_other_plugin_findings(host, spec.text("kubelet_root"), own_plugin(seen),
                            nvidia::other_program_policy(spec.text("other_plugin")), findings);
  const auto settings = settings_as_applied(spec, host);
  if (!settings) {
    const Error& error = settings.error();
    findings.fail("deviceplugin.config",
                  "the config cannot be read: " + error.what + (error.where.empty() ? "" : " (" + error.where + ")"),
                  error.next);
    return findings;
  }
  add_cdi_finding(cdi_needs(*settings, spec.text("cdi_vendor"), host), host, findings);
  const OfferCheck offer = check_offer(*settings, spec.text("driver_root"), host);
  if (offer.problem)
    findings.fail(
        "deviceplugin.config",
        "the service cannot offer what the config says: " + offer.problem->what + " (" + offer.problem->where + ")",
        offer.problem->next);
  for (const std::string& remark : offer.remarks)
    findings.warning("deviceplugin.config", remark, "look for the lost GPU with `slipway deviceplugin status`");
  return findings;
}

Result<Findings> DevicePlugin::diagnose(const Spec& spec, const Host& host) const {
  Findings findings;
  if (waits_for_the_watcher(spec))
    findings.warning("deviceplugin.registration", kWatcherIsLate, "write registration: socket, or leave the key out");
  const auto seen = read_registered(host, spec.text("kubelet_root"));
  if (!seen.running || !seen.status) return findings;
  add_registration_findings(seen, findings);
  add_memory_findings(*seen.status, findings);
  add_conflict_findings(*seen.status, findings);
  return findings;
}

}  // namespace slipway::deviceplugin
