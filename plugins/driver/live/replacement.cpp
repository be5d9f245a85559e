// SPDX-License-Identifier: Apache-2.0
#include "driver/live/replacement.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/text.hpp>

#include "driver/live/driver_modules.hpp"
#include "nvidia/drain/drain.hpp"
#include "nvidia/drain/holders.hpp"
#include "nvidia/drain/stopped_services.hpp"
#include "nvidia/kubelet/allocations.hpp"
#include "nvidia/kubelet/gpu_pods.hpp"
#include "nvidia/kubelet/pod_resources.hpp"
#include "nvidia/loaded_driver.hpp"

namespace slipway::driver {
namespace {

namespace drain = nvidia::drain;

constexpr const char* kRelease = "loaded driver";
constexpr const char* kResumption = "services of the driver";
constexpr const char* kServicesRecord = "/run/slipway/driver-services.json";
constexpr const char* kKey = "spec.components.driver.drain";

/// NVIDIA's daemons, which hold the driver, in the order in which they stop; they start in the other one.
const std::vector<std::string>& driver_services() {
  static const std::vector<std::string> units{"nvidia-imex.service", "nvidia-fabricmanager.service",
                                              "nvidia-persistenced.service"};
  return units;
}

std::string driver_text(const nvidia::LoadedDriver& loaded) {
  return loaded.flavour ? fmt::format("{} ({})", loaded.version, nvidia::to_string(*loaded.flavour)) : loaded.version;
}

std::string driver_text(const WantedDriver& wanted) {
  return wanted.flavour.empty() ? wanted.version : fmt::format("{} ({})", wanted.version, wanted.flavour);
}

/// The data of kRelease.
struct Release {
  WantedDriver wanted;
  drain::Settings drain;
  std::string kubelet_socket;
  bool brings_back = false;  ///< the apply has failed

  static Result<Release> from_json(const Json& json) {
    Release data;
    data.brings_back = json.value("bring_back", false);
    if (data.brings_back) return data;
    data.wanted = {json.value("version", ""), json.value("flavour", "")};
    SLIPWAY_TRY(settings, drain::read_settings(json.value("drain", Json()), kKey));
    data.drain = settings;
    data.kubelet_socket = json.value("kubelet_socket", nvidia::kubelet::kPodResourcesSocket);
    return data;
  }
  Json json() const {
    Json json{{"version", wanted.version}, {"drain", drain::to_json(drain)}};
    if (!wanted.flavour.empty()) json["flavour"] = wanted.flavour;
    if (kubelet_socket != nvidia::kubelet::kPodResourcesSocket) json["kubelet_socket"] = kubelet_socket;
    return json;
  }
};

drain::PodHolders ask_kubelet(const Host& host, const std::string& socket) {
  if (socket.empty() || host.booting()) return {};
  nvidia::kubelet::Allocations found = nvidia::kubelet::AllocationReader(host, socket).read();
  drain::PodHolders given{.holders = nvidia::kubelet::gpu_pods_of(found.all)};
  if (found.incomplete.empty()) return given;
  given.problem = found.incomplete + " (" + socket + ")";
  given.next = "look at kubelet (`systemctl status kubelet`), remove " + socket +
               " and the folder device-plugins if kubelet is no longer installed, or turn this query off "
               "(`kubelet_socket: \"\"` in the spec's driver)";
  return given;
}

/// Returns the users of the driver besides the services that an apply stops.
std::vector<drain::DeviceHolder> users_of(const Host& host, const std::string& kubelet_socket) {
  auto holders = drain::find_driver_holders(host, ask_kubelet(host, kubelet_socket));
  drain::erase_units(host, driver_services(), holders);
  return holders;
}

/// Says which of the loaded driver's services an apply stops; empty: none.
std::string stopped_text(const HostFacts& facts) {
  return facts.services.empty() ? std::string() : fmt::format("stop {}, and ", listed(facts.services, "and"));
}

drain::Drain drain_of(const Host& host, const Release& data, const nvidia::LoadedDriver& loaded) {
  const std::string driver = "driver " + loaded.version;
  return {host, data.drain,
          drain::Drain::Change{.name = "driver",
                               .target = driver_text(data.wanted),
                               .subject = driver,
                               .in_use = driver + " is in use, so it was left as it is",
                               .key = kKey}};
}

/// Asks whether the loaded driver may be unloaded. @param holders  its users
Result<Outcome> admit(const Host& host, const drain::Drain& drain, const std::vector<drain::DeviceHolder>& holders) {
  SLIPWAY_TRY(outcome, drain.admit(holders));
  const auto others = outcome.kind == Outcome::Kind::done ? other_modules_on_top(host) : std::vector<std::string>{};
  if (others.empty() || !host.live()) return outcome;
  return drain.refused({fmt::format("the kernel module {}, which needs it", fmt::join(others, " and "))});
}

Result<Outcome> release_driver(const Release& data, const Host& host) {
  const auto loaded = nvidia::read_loaded_driver(host);
  if (!loaded) return Outcome::already_done();
  const auto drain = drain_of(host, data, *loaded);
  SLIPWAY_TRY(stopped, drain::StoppedServices::stop(host, kServicesRecord, driver_services()));
  SLIPWAY_TRY(outcomes, drain::Drain::clear({&drain}, [&] {
                return std::vector<std::vector<drain::DeviceHolder>>{users_of(host, data.kubelet_socket)};
              }));
  Outcome outcome = std::move(outcomes.front());
  if (outcome.kind != Outcome::Kind::done) return outcome;
  if (host.live())
    if (const Status unloaded = unload_modules(host, loaded->version); !unloaded)
      return drain.refused({"the kernel: " + unloaded.error().what});
  stopped.leave_stopped();
  drain.over();
  return outcome;
}

/// Starts the services that a replacement stopped. @return what went wrong; empty: nothing
std::string start_services(const Host& host) {
  auto stopped = drain::StoppedServices::stop(host, kServicesRecord, {});
  const Status started = stopped ? stopped->start() : Status(stopped.error());
  return started ? std::string() : started.error().what;
}

Result<Outcome> take_back(const Host& host) {
  std::vector<std::string> failures;
  if (const auto unloaded = read_unloaded_modules(host)) failures = bring_back(host, *unloaded);
  if (failures.empty()) forget_unloaded_modules(host);
  if (auto problem = start_services(host); !problem.empty()) failures.push_back(std::move(problem));
  if (failures.empty()) return Outcome::done();
  return Error{.code = ErrorCode::conflict,
               .what = "the former driver is not as it was: " + joined(failures, "; "),
               .where = {},
               .next = "reboot, which loads it"};
}

bool is_replacement_left(const Host& host) {
  return host.live() &&
         (drain::StoppedServices::any_left(host, kServicesRecord) || read_unloaded_modules(host).has_value());
}

Result<Outcome> resume_services(const Host& host) {
  std::vector<std::string> failures;
  if (const auto unloaded = read_unloaded_modules(host))
    for (auto& failure : load_again(host, *unloaded))
      failures.push_back("a module that was loaded before is not loaded now: " + std::move(failure));
  forget_unloaded_modules(host);
  if (auto problem = start_services(host); !problem.empty()) failures.push_back(std::move(problem));
  Outcome outcome = Outcome::done();
  outcome.reason = joined(failures, "; ");
  return outcome;
}

/// True when the spec asks for exactly the loaded driver, so that it is not replaced.
bool asks_for_loaded(const Settings& settings, const HostFacts& facts) {
  const bool same_flavour = !settings.modules || !facts.loaded->flavour || settings.modules == facts.loaded->flavour;
  const bool is_installed =
      facts.installed && WantedDriver{facts.installed->version, facts.installed->only_flavour()}.is(*facts.loaded);
  return is_installed && same_flavour && settings.version.is_exact() && settings.version.allows(facts.loaded->version);
}

/// A root that is not live has the new files once they are switched; a boot loads the modules.
bool is_needed(const HostFacts& facts, const Target& target, const WantedDriver& wanted) {
  if (!facts.loaded || wanted.is(*facts.loaded)) return false;
  const std::string installed = facts.installed ? facts.installed->only_flavour() : std::string();
  const bool is_switched = facts.installed && facts.installed->version == wanted.version &&
                           (wanted.flavour.empty() || installed.empty() || installed == wanted.flavour);
  return target.live || !is_switched;
}

}  // namespace

bool WantedDriver::is(const nvidia::LoadedDriver& loaded) const {
  return version == loaded.version &&
         (flavour.empty() || !loaded.flavour || flavour == nvidia::to_string(*loaded.flavour));
}

void read_replacement_facts(const Settings& settings, const Host& host, HostFacts& facts) {
  facts.replacement_left = is_replacement_left(host);
  if (!facts.loaded || asks_for_loaded(settings, facts)) return;
  facts.exclusives = nvidia::exclusives_of_gpus(host);
  if (settings.drain.policy == drain::Policy::next_boot) return;
  const auto holders = drain::find_driver_holders(host, ask_kubelet(host, settings.kubelet_socket));
  auto users = holders;
  drain::erase_units(host, driver_services(), users);
  for (const auto& unit : driver_services())
    if (host.live() && std::ranges::any_of(holders, [&](const auto& each) { return each.process.owner.unit == unit; }))
      facts.services.push_back(unit);
  if (users.empty()) return;
  facts.users = fmt::format("driver {} is held by {}; {}", facts.loaded->version,
                            listed(drain::few_texts_of(users), "and"), drain::effect_text(host, users, settings.drain));
}

void add_release(const Settings& settings, const HostFacts& facts, const Target& target, const WantedDriver& wanted,
                 Plan& plan) {
  if (!is_needed(facts, target, wanted)) return;
  const bool at_boot = settings.drain.policy == drain::Policy::next_boot;
  const Release data{wanted, settings.drain, settings.kubelet_socket};
  plan.add(action::custom({.name = kRelease,
                           .data = data.json(),
                           .inverse = nullptr,
                           .irreversible = "it is a step of the change",
                           .summary = fmt::format("free the loaded driver {}: {}unload its modules",
                                                  driver_text(*facts.loaded), stopped_text(facts)),
                           .exclusives = facts.exclusives,
                           .quiesces_services = true,
                           .before_switch = true,
                           .on_failure = {{"bring_back", true}},
                           .interrupts = at_boot ? "reboot" : "driver reload"}))
      .because(fmt::format("{} is to be loaded", driver_text(wanted)));
  if (at_boot) plan.note("the drain policy next-boot leaves the change of the driver to slipway-boot.service");
  if (!facts.users.empty()) plan.note(facts.users);
}

void add_resumption(const Settings&, const HostFacts& facts, const Target& target, const WantedDriver& wanted,
                    Plan& plan) {
  if (!target.live || (!facts.replacement_left && !is_needed(facts, target, wanted))) return;
  plan.add(action::custom({.name = kResumption,
                           .data = Json::object(),
                           .inverse = nullptr,
                           .irreversible = "it is a step of the change",
                           .summary = "start what was stopped for the change of the driver",
                           .is_step = true}));
}

bool is_of_replacement(const Action& action) { return action.target() == kRelease || action.target() == kResumption; }

Result<bool> check_replacement(const Action& action, const Host& host) {
  if (action.target() == kResumption) return !is_replacement_left(host);
  SLIPWAY_TRY(data, action::custom_data<Release>(action));
  const auto loaded = nvidia::read_loaded_driver(host);
  return !loaded || data.wanted.is(*loaded);
}

Result<Outcome> admit_replacement(const Action& action, const Host& host) {
  SLIPWAY_TRY(data, action::custom_data<Release>(action));
  const auto loaded = nvidia::read_loaded_driver(host);
  if (data.brings_back || !loaded) return Outcome::done();
  const auto drain = drain_of(host, data, *loaded);
  const auto holders = drain.is_for_a_boot() ? std::vector<drain::DeviceHolder>{} : users_of(host, data.kubelet_socket);
  return admit(host, drain, holders);
}

Result<Outcome> apply_replacement(const Action& action, const Host& host) {
  if (action.target() == kResumption) return resume_services(host);
  SLIPWAY_TRY(data, action::custom_data<Release>(action));
  return data.brings_back ? take_back(host) : release_driver(data, host);
}

}  // namespace slipway::driver
