// SPDX-License-Identifier: Apache-2.0
#include "mig/component/component.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "mig/component/drain.hpp"
#include "mig/component/settings.hpp"
#include "mig/device/change.hpp"
#include "mig/device/read.hpp"
#include "mig/layout/intent.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::mig {
namespace {

constexpr std::size_t kLongestConfig = 1 << 20;
constexpr const char* kAtBoot = "slipway-boot.service partitions the GPUs at each boot";

/// The session of the apply that this worker does: the first GPU opens it, the others and their checks use it. It ends
/// with the worker.
nvidia::nvml::Nvml*& session_of_apply() {
  static nvidia::nvml::Nvml* session = nullptr;
  return session;
}

/// Why no GPU can be asked here, where that is no mistake; empty: one can.
std::string why_later(const Host& host) {
  if (!host.has_kernel_view()) return std::string("this root shows no devices; ") + kAtBoot;
  return {};
}

std::string driver_root_of(const Action& action) { return action.value("data").value("driver_root", ""); }

/// Of an inverse, which has none: the default.
Result<nvidia::drain::Settings> drain_of(const Action& action) {
  return nvidia::drain::read_settings(action.value("data").value("drain", Json()), "action");
}

Result<std::vector<Gpu>> ask_gpus(const Settings& settings, const Host& host) {
  SLIPWAY_TRY(nvml, open_nvml(host, settings.driver_root));
  return read_gpus(*nvml);
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

/// The driver that a simulated machine is without is only there after a boot.
bool is_for_boot(const Host& host, const Error& error) { return !host.live() && error.code == ErrorCode::not_found; }

std::string state_name(const Settings& settings) { return "the config " + settings.config; }

Result<Intents> intents_from(const Settings& settings, const Facts& facts) {
  SLIPWAY_TRY(gpus, gpus_of(facts));
  std::vector<std::string> notes;
  SLIPWAY_TRY(entries, chosen_entries(settings, facts.text("file"), gpus, notes));
  SLIPWAY_TRY(intents, intents_of(entries, gpus));
  intents.notes.insert(intents.notes.begin(), notes.begin(), notes.end());
  return std::move(intents);
}

/// One action for each GPU. Its name stays the same whatever the layout, so that a later config changes this action.
Action action_of(const Intent& intent, const Settings& settings) {
  const std::string& driver_root = settings.driver_root;
  const bool is_left_to_a_boot = settings.drain.policy == nvidia::drain::Policy::next_boot;
  Json data = to_json(intent.target);
  data["drain"] = to_json(settings.drain);
  Json inverse = to_json(present(intent.gpu));
  for (Json* each : {&data, &inverse})
    if (!driver_root.empty()) (*each)["driver_root"] = driver_root;
  return action::custom({.name = "MIG layout of " + intent.gpu.text(),
                         .data = std::move(data),
                         .inverse = std::move(inverse),
                         .irreversible = {},
                         .summary = intent.gpu.text() + ": " + intent.change_text(),
                         .stays = true,
                         .lost_at_boot = intent.target.enabled || is_left_to_a_boot,
                         .independent = true,
                         .exclusives = {nvidia::exclusive_of(intent.gpu.uuid)},
                         .quiesces_services = true});
}

/// Where no GPU can be asked, the whole work is left to the boot.
Action action_at_boot(const Settings& settings) {
  return action::custom({.name = "MIG layout of " + state_name(settings),
                         .data = {{"config", settings.config}},
                         .inverse = nullptr,
                         .irreversible = "the layout of a GPU stays when the component leaves",
                         .summary = "partition the GPUs by " + state_name(settings),
                         .stays = true,
                         .lost_at_boot = true});
}

}  // namespace

Result<Facts> Mig::detect(const Spec& spec, const Host& host) const {
  if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
  Facts facts;
  SLIPWAY_TRY(settings, read_settings(spec));
  if (!settings.file.empty()) {
    const auto text = host.read(settings.file, kLongestConfig);
    if (text)
      facts.set("file", *text);
    else
      facts.set("problem", to_json(text.error()));
  }
  if (const std::string later = why_later(host); !later.empty()) {
    facts.set("later", later);
    facts.set("no_devices", true);
    return facts;
  }
  const auto gpus = ask_gpus(settings, host);
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
  return facts;
}

Result<Plan> Mig::plan(const Spec& spec, const Facts& facts, const Inputs&) const {
  SLIPWAY_TRY(settings, read_settings(spec));
  if (facts.has("problem")) return error_from_json(facts.value("problem"));
  Plan plan;
  if (facts.has("later")) {
    SLIPWAY_CHECK(check_configs(settings, facts.text("file")));
    plan.note(facts.text("later"));
    if (facts.flag("no_devices")) plan.add(action_at_boot(settings));
    return plan;
  }
  SLIPWAY_TRY(intents, intents_from(settings, facts));
  for (const Intent& intent : intents.gpus)
    plan.add(action_of(intent, settings))
        .because(intent.instances_text().empty() ? state_name(settings) + " takes it" : intent.instances_text());
  for (const std::string& note : intents.notes) plan.note(note);
  if (settings.drain.policy == nvidia::drain::Policy::next_boot && !std::ranges::all_of(intents.gpus, &Intent::holds))
    plan.note("the drain policy next-boot leaves the change to slipway-boot.service");
  return plan;
}

// A GPU that cannot be asked has not what it is to have; detect() says why.
Result<bool> Mig::check(const Action& action, const Host& host) const {
  SLIPWAY_TRY(target, target_from_json(action.value("data")));
  std::unique_ptr<nvidia::nvml::Nvml> own;
  nvidia::nvml::Nvml* nvml = session_of_apply();
  if (nvml == nullptr) {
    auto opened = open_nvml(host, driver_root_of(action));
    if (!opened) return false;
    own = std::move(*opened);
    nvml = own.get();
  }
  const auto device = find_gpu(*nvml, target);
  if (!device) return false;
  const auto gpu = read_gpu(*nvml, *device);
  return gpu && is_so(*gpu, target);
}

Result<Outcome> Mig::preflight(const Action& action, const Host& host) const {
  SLIPWAY_TRY(target, target_from_json(action.value("data")));
  SLIPWAY_TRY(settings, drain_of(action));
  SLIPWAY_TRY(nvml, open_nvml(host, driver_root_of(action)));
  return may_change_gpu(*nvml, host, target, settings);
}

Result<Outcome> Mig::apply(const Action& action, const Host& host) const {
  SLIPWAY_TRY(target, target_from_json(action.value("data")));
  SLIPWAY_TRY(settings, drain_of(action));
  nvidia::nvml::Nvml*& session = session_of_apply();
  if (session == nullptr) {
    SLIPWAY_TRY(opened, open_nvml(host, driver_root_of(action), kChangeLimit));
    session = opened.release();
  }
  return drain_and_change_gpu(*session, host, target, settings);
}

Result<Findings> Mig::verify(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(settings, read_settings(spec));
  SLIPWAY_TRY(facts, detect(spec, host));
  Findings findings;
  if (!facts.applicable()) {
    findings.not_applicable("mig.layout", facts.why_not());
    return findings;
  }
  if (facts.has("later")) {
    findings.not_exercised("mig.layout", facts.text("later"));
    return findings;
  }
  const auto intents =
      facts.has("problem") ? Result<Intents>(error_from_json(facts.value("problem"))) : intents_from(settings, facts);
  if (!intents) {
    findings.fail("mig.layout", intents.error().what, intents.error().next);
    return findings;
  }
  std::vector<std::string> others;
  std::vector<std::string> pending;
  for (const Intent& intent : intents->gpus) {
    if (!intent.holds()) others.push_back(intent.gpu.text() + " (" + to_text(layout_of(intent.gpu)) + ")");
    if (intent.gpu.pending != intent.gpu.enabled) pending.push_back(intent.gpu.text());
  }
  findings.expect("mig.layout", others.empty(),
                  fmt::format("{} GPUs have the layout of {}", intents->gpus.size(), state_name(settings)),
                  joined(others) + (others.size() == 1 ? " has" : " have") + " another layout than " +
                      state_name(settings) + " says",
                  settings.drain.policy == nvidia::drain::Policy::next_boot
                      ? "reboot: the drain policy next-boot leaves the change to slipway-boot.service"
                      : "run `slipway apply`");
  if (!pending.empty())
    findings.fail("mig.reset", "a change of the MIG mode waits for a reset of " + joined(pending),
                  "end what uses the GPU and run `nvidia-smi --gpu-reset`, or reboot");
  return findings;
}

Result<Findings> Mig::diagnose(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(settings, read_settings(spec));
  SLIPWAY_TRY(facts, detect(spec, host));
  Findings findings;
  if (!facts.applicable() || facts.has("later") || facts.has("problem")) return findings;
  const auto intents = intents_from(settings, facts);
  if (!intents) return findings;  // verify() says it
  SLIPWAY_TRY(nvml, open_nvml(host, settings.driver_root));
  SLIPWAY_CHECK(find_in_use(*nvml, host, intents->gpus, findings));
  return findings;
}

}  // namespace slipway::mig
