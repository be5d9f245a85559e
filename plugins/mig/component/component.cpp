// SPDX-License-Identifier: Apache-2.0
#include "mig/component/component.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/action/as_recorded.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "mig/component/drain.hpp"
#include "mig/component/labels.hpp"
#include "mig/component/layouts_action.hpp"
#include "mig/component/nvml_session.hpp"
#include "mig/component/settings.hpp"
#include "mig/device/clients.hpp"
#include "mig/device/read.hpp"
#include "mig/device/reset.hpp"
#include "mig/diagnose/diagnose.hpp"
#include "mig/diagnose/other_manager.hpp"
#include "mig/draw/picture.hpp"
#include "mig/layout/intent.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/machine/causes.hpp"
#include "nvidia/nvml/error.hpp"

namespace slipway::mig {
namespace {

constexpr std::size_t kLongestConfig = 1 << 20;
constexpr std::size_t kLongestLabels = 1 << 20;
constexpr const char* kThenApply = ", then run `slipway apply`";
constexpr const char* kAtBoot = "slipway-boot.service partitions the GPUs at each boot";

/// Says why no GPU can be read here, if that is not an error; empty: GPUs can be read.
std::string why_later(const Host& host) {
  if (!host.has_kernel_view()) return std::string("this root shows no devices; ") + kAtBoot;
  return {};
}

Result<std::vector<Gpu>> ask_gpus(nvidia::nvml::Nvml& nvml, const Settings& settings, const Host& host) {
  SLIPWAY_TRY(gpus, read_gpus(nvml));
  name_lost_gpus(host, gpus);  // their managers are found by address
  SLIPWAY_CHECK(name_managers(host, settings.managers, gpus));
  return gpus;
}

Result<std::vector<Gpu>> gpus_of(const Facts& facts) {
  std::vector<Gpu> gpus;
  const Json list = facts.value("gpus");
  for (const Json& each : list) {
    SLIPWAY_TRY(gpu, gpu_from_json(each));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

/// Reads the settings, with the config that the node's labels name.
Result<Settings> settings_from(const Spec& spec, const Facts& facts) {
  SLIPWAY_TRY(settings, read_settings(spec));
  if (const std::string label = facts.text("label"); !label.empty()) settings.config = label;
  return settings;
}

constexpr const char* kOtherUnit = "/etc/systemd/system/nvidia-mig-manager.service";
constexpr const char* kLeftToIt = ", and the GPUs are left to it";

/// Sets the fact "yields": the program that the GPUs are left to. Problem: another manager that slipway neither yields
/// to nor can take over.
void look_for_other_manager(const Settings& settings, const Host& host, Facts& facts) {
  const bool yields = settings.other_manager == OtherManager::yield;
  if (yields && is_other_manager_enabled(host))
    facts.set("yields", std::string("nvidia-mig-manager.service is enabled") + kLeftToIt);
  const auto manager = running_manager(host);
  if (!manager) return;
  if (yields)
    facts.set("yields", manager_text(*manager) + " is present" + kLeftToIt);
  else
    facts.set("problem", to_json(other_manager_error(*manager, to_string(settings.other_manager))));
}

/// The error for a file that a key of the spec names.
Error of_key(const std::string& key, Error error) {
  error.where = "spec.components.mig." + key;
  if (error.code == ErrorCode::not_found) error.code = ErrorCode::invalid;  // no component creates the file
  if (error.next.empty()) error.next = "name an existing file in the host's root, or create it";
  return error;
}

/// Reads the services that are stopped during a change.
Status read_clients(const Settings& settings, const Host& host, Facts& facts) {
  if (settings.clients_file.empty()) return {};
  const auto text = read_trusted(host, settings.clients_file, kLongestConfig);
  if (!text) return of_key("clients_file", text.error());
  SLIPWAY_TRY(clients, clients_from_yaml(*text, settings.clients_file));
  facts.set("clients", clients);
  return {};
}

/// Reads the node's labels. A file that does not exist yet counts as one without labels.
Status read_labels(const Settings& settings, const Host& host, Facts& facts) {
  if (settings.label_file.empty()) return {};
  const auto text = read_trusted(host, settings.label_file, kLongestLabels);
  if (!text && text.error().code == ErrorCode::not_found) return {};
  if (!text) return text.error();
  SLIPWAY_TRY(config, config_of_labels(*text, settings.label_file));
  if (config) facts.set("label", *config);
  return {};
}

/// The error for a missing config that the node's labels name: the spec is correct.
Error about_label(Error error, const Settings& settings, const Facts& facts) {
  if (facts.text("label").empty() || error.code != ErrorCode::not_found) return error;
  error.what += ", which the label nvidia.com/mig.config names (" + error.where + ")";
  error.where = settings.label_file;
  error.next += ", in that label";
  return error;
}

/// Checks the spec and its file without the GPUs, so that a mistake is reported before a driver is available.
Status check_given(const Settings& settings, const Facts& facts) {
  const bool unread = !settings.file.empty() && !facts.has("file");
  if (!facts.text("label").empty() || unread) return {};
  const auto checked = check_configs(settings, facts.text("file"));
  if (checked) return {};
  Error mistake = checked.error();
  if (mistake.code == ErrorCode::not_found) mistake.code = ErrorCode::invalid;
  return mistake;
}

Result<Intents> intents_from(const Settings& settings, const Facts& facts) {
  SLIPWAY_TRY(gpus, gpus_of(facts));
  std::vector<std::string> notes;
  auto chosen = chosen_entries(settings, facts.text("file"), gpus, notes);
  if (!chosen) return about_label(std::move(chosen).error(), settings, facts);
  const Entries& entries = *chosen;
  SLIPWAY_TRY(intents, intents_of(entries, gpus));
  intents.notes.insert(intents.notes.begin(), notes.begin(), notes.end());
  return std::move(intents);
}

/// Keeps the recorded layouts while the target is unknown.
void keep_recorded(const Settings& settings, Plan& plan) {
  if (!settings.state_file.empty()) plan.add(action::as_recorded("service-file", settings.state_file));
  plan.add(layouts_as_recorded());
}

/// Finds the users of instances that have to change. plan() reports mistakes in the spec.
void look_for_holders(nvidia::nvml::Nvml& nvml, const Spec& spec, const Host& host, Facts& facts) {
  const auto settings = settings_from(spec, facts);
  if (!settings || settings->config.empty() || waits_for_boot(*settings)) return;
  const auto intents = intents_from(*settings, facts);
  if (!intents) return;
  const auto notes = held_notes(nvml, host, *settings, intents->gpus, facts.texts("clients"));
  if (notes && !notes->empty()) facts.set_volatile("held", *notes);
}

}  // namespace

Result<Facts> Mig::detect(const Spec& spec, const Host& host) const {
  if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
  Facts facts;
  SLIPWAY_TRY(settings, read_settings(spec));
  if (!settings.file.empty()) {
    const auto text = read_trusted(host, settings.file, kLongestConfig);
    if (text)
      facts.set("file", *text);
    else
      facts.set("problem", to_json(of_key("file", text.error())));
  }
  look_for_other_manager(settings, host, facts);
  if (!settings.state_file.empty())
    if (const Status free = check_state_file(host, settings.state_file); !free)
      facts.set("problem", to_json(free.error()));
  if (const Status read = read_clients(settings, host, facts); !read) facts.set("problem", to_json(read.error()));
  if (const Status labels = read_labels(settings, host, facts); !labels) facts.set("problem", to_json(labels.error()));
  if (const std::string later = why_later(host); !later.empty()) {
    facts.set("later", later);
    facts.set("no_devices", true);
    return facts;
  }
  const auto session = NvmlSession::open(host, settings.driver_root);
  const auto gpus = session ? ask_gpus(**session, settings, host) : Result<std::vector<Gpu>>(session.error());
  if (!gpus && is_for_boot(host, gpus.error())) {
    facts.set("later", gpus.error().what + "; " + kAtBoot);
    return facts;
  }
  if (!gpus) {
    facts.set("problem", to_json(gpus.error()));
    return facts;
  }
  if (host.hardware() == "detect" && std::ranges::none_of(*gpus, &Gpu::capable))
    return Facts::not_applicable("no GPU of this machine is capable of MIG");
  Json list = Json::array();
  for (const Gpu& gpu : *gpus) list.push_back(to_json(gpu));
  facts.set("gpus", std::move(list));
  if (const auto elsewhere = gpus_of_vfio(host, *gpus); !elsewhere.empty()) facts.set("elsewhere", elsewhere);
  if (const auto lost = lost_gpus(host, *gpus); !lost.empty()) facts.set("lost", lost);
  if (!facts.has("problem") && !facts.has("yields")) look_for_holders(**session, spec, host, facts);
  return facts;
}

Result<Plan> Mig::plan(const Spec& spec, const Facts& facts, const Inputs&) const {
  SLIPWAY_TRY(settings, settings_from(spec, facts));
  std::optional<Error> problem;
  if (facts.has("problem")) problem = error_from_json(facts.value("problem"));
  if (!problem || problem->code == ErrorCode::not_found) SLIPWAY_CHECK(check_given(settings, facts));
  if (problem) return *std::move(problem);
  Plan plan;
  if (facts.has("yields")) {
    plan.note(facts.text("yields"));
    return plan;
  }
  if (settings.other_manager == OtherManager::take_over)
    plan.add(action::symlink(kOtherUnit, "/dev/null")).because("slipway does the work of NVIDIA's MIG manager");
  if (facts.has("later")) {
    SLIPWAY_TRY(remark, check_configs(settings, facts.text("file")));
    plan.note(facts.text("later"));
    if (!remark.empty()) plan.note(remark);
    if (facts.flag("no_devices"))
      plan.add(layouts_at_boot(settings));
    else
      keep_recorded(settings, plan);
    return plan;
  }
  if (settings.config.empty()) {
    plan.note(settings.label_file + " has no label nvidia.com/mig.config, so the GPUs stay as they are");
    keep_recorded(settings, plan);
    return plan;
  }
  SLIPWAY_TRY(intents, intents_from(settings, facts));
  if (!settings.state_file.empty())
    plan.add(action::service_file(settings.state_file)).because("the label nvidia.com/mig.config.state");
  for (const std::string& address : facts.texts("lost"))
    plan.note("the driver does not list the GPU at " + address + ", so its layout is left as it is");
  if (!intents.gpus.empty())
    plan.add(layouts_action(settings, facts.value("clients"), intents.gpus));
  else if (!intents.lost.empty() || !facts.texts("lost").empty())
    plan.add(layouts_as_recorded());
  for (const std::string& note : intents.notes) plan.note(note);
  for (const std::string& note : facts.texts("held")) plan.note(note);
  const Json elsewhere = facts.value("elsewhere");
  for (const Json& note : elsewhere) plan.note(note.get<std::string>());
  if (waits_for_boot(settings) && !std::ranges::all_of(intents.gpus, &Intent::holds))
    plan.note("the drain policy next-boot leaves the change to slipway-boot.service");
  return plan;
}

Result<bool> Mig::check(const Action& action, const Host& host) const { return check_layouts(action, host); }

Result<Outcome> Mig::preflight(const Action& action, const Host& host) const { return preflight_layouts(action, host); }

Result<Outcome> Mig::apply(const Action& action, const Host& host) const { return apply_layouts(action, host); }

Result<Findings> Mig::verify(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(facts, detect(spec, host));
  SLIPWAY_TRY(settings, settings_from(spec, facts));
  Findings findings;
  if (!facts.applicable()) {
    findings.not_applicable("mig.layout", facts.why_not());
    return findings;
  }
  if (facts.has("later") || facts.has("yields")) {
    findings.not_exercised("mig.layout", facts.text(facts.has("yields") ? "yields" : "later"));
    return findings;
  }
  if (settings.config.empty() && !facts.has("problem")) {
    findings.not_exercised("mig.layout", settings.label_file + " has no label nvidia.com/mig.config");
    return findings;
  }
  const auto intents =
      facts.has("problem") ? Result<Intents>(error_from_json(facts.value("problem"))) : intents_from(settings, facts);
  if (!intents) {
    const Error& error = intents.error();
    const bool has_place = error.where.empty() || error.what.find(error.where) != std::string::npos;
    findings.fail("mig.layout", (has_place ? "" : error.where + ": ") + error.what, error.next,
                  nvidia::nvml_cause(error.what));
    return findings;
  }
  constexpr const char* kLostRemedy = "look at the kernel's log (`dmesg`) for an Xid, then reset the GPU or reboot";
  if (const auto lost = facts.texts("lost"); !lost.empty())
    findings.fail("mig.layout",
                  "the driver does not list the GPU at " + listed(lost, "and") + ", so its layout is not known",
                  kLostRemedy, nvidia::lost_gpu_cause(lost.front()));
  for (const std::string& lost : intents->lost)
    findings.fail("mig.layout", "the driver cannot reach " + lost + ", so its layout is not known",
                  lost.ends_with(Gpu::kHangs) ? nvidia::nvml::kHangRemedy : kLostRemedy,
                  nvidia::lost_gpu_cause(nvidia::gpu_address_in(lost)));
  std::vector<Gpu> others;
  std::vector<Gpu> pending;
  for (const Intent& intent : intents->gpus) {
    if (!intent.holds()) others.push_back(intent.gpu);
    if (intent.gpu.pending != intent.gpu.enabled) pending.push_back(intent.gpu);
  }
  for (const std::string& each : intents->idle)
    findings.add({Finding::Status::warning, "mig.config", each,
                  "correct the config if this is a mistake; `nvidia-smi -L` lists the GPUs of the machine"});
  if (intents->gpus.empty()) {
    if (intents->lost.empty()) findings.not_exercised("mig.layout", config_name(settings) + " selects no GPU here");
    return findings;
  }
  findings.expect("mig.layout", others.empty(),
                  (intents->gpus.size() == 1 ? "1 GPU has" : std::to_string(intents->gpus.size()) + " GPUs have") +
                      " the layout of " + config_name(settings),
                  layouts_text(others) + (others.size() == 1 ? " has" : " have") + " another layout than " +
                      config_name(settings) + " says",
                  waits_for_boot(settings)
                      ? "reboot: the drain policy next-boot leaves the change to slipway-boot.service"
                  : pending.size() == others.size() ? how_to_reset(pending) + kThenApply
                                                    : "run `slipway apply`");
  if (!pending.empty())
    findings.fail("mig.reset", "a change of the MIG mode waits for a reset of " + names_text(pending),
                  how_to_reset(pending) + kThenApply);
  return findings;
}

Result<Findings> Mig::diagnose(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(facts, detect(spec, host));
  SLIPWAY_TRY(settings, settings_from(spec, facts));
  Findings findings;
  if (facts.has("yields")) return findings;
  diagnose_other_manager(host, settings.file, findings);
  if (!facts.applicable() || facts.has("later") || facts.has("problem")) return findings;
  SLIPWAY_TRY(gpus, gpus_of(facts));
  std::erase_if(gpus, [](const Gpu& gpu) { return !gpu.manager.empty(); });
  const auto intents = intents_from(settings, facts);
  const std::string config = settings.config.empty() ? "the config that a label names" : config_name(settings);
  diagnose_gpus(gpus, intents && !settings.config.empty() ? &intents->gpus : nullptr, config, findings);
  diagnose_capabilities(host, findings);
  if (!intents || settings.config.empty() || waits_for_boot(settings)) return findings;  // verify() reports that
  SLIPWAY_TRY(session, NvmlSession::open(host, settings.driver_root));
  SLIPWAY_CHECK(find_in_use(*session, host, settings, intents->gpus, findings));
  return findings;
}

}  // namespace slipway::mig
