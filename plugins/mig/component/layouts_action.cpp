// SPDX-License-Identifier: Apache-2.0
#include "mig/component/layouts_action.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <slipway/action/as_recorded.hpp>
#include <slipway/text.hpp>

#include "mig/component/drain.hpp"
#include "mig/component/labels.hpp"
#include "mig/component/nvml_session.hpp"
#include "mig/device/capabilities.hpp"
#include "mig/device/change.hpp"
#include "mig/device/clients.hpp"
#include "mig/device/read.hpp"
#include "mig/draw/picture.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/kubelet/pod_resources.hpp"

namespace slipway::mig {
namespace {

constexpr const char* kName = "MIG layouts";

Json data_of(const Settings& settings, Json targets) {
  Json data{{"gpus", std::move(targets)}};
  if (!settings.driver_root.empty()) data["driver_root"] = settings.driver_root;
  if (settings.kubelet_socket != nvidia::kubelet::kPodResourcesSocket) data["kubelet_socket"] = settings.kubelet_socket;
  return data;
}

std::string driver_root_of(const Action& action) { return action.value("data").value("driver_root", ""); }

std::string kubelet_socket_of(const Action& action) {
  return action.value("data").value("kubelet_socket", nvidia::kubelet::kPodResourcesSocket);
}

Result<std::vector<Target>> targets_of(const Action& action) {
  std::vector<Target> targets;
  const Json list = action.value("data").value("gpus", Json::array());
  for (const Json& each : list) {
    SLIPWAY_TRY(target, target_from_json(each));
    targets.push_back(std::move(target));
  }
  return targets;
}

Json without_mig(const std::vector<Intent>& gpus) {
  Json targets = Json::array();
  for (const Intent& each : gpus) {
    Target target = present(each.gpu);
    target.enabled = false;
    target.instances.clear();
    targets.push_back(to_json(target));
  }
  return targets;
}

Json data_of_removal(const Settings& settings, const std::vector<Intent>& gpus) {
  Json data = data_of(settings, without_mig(gpus));
  data["key"] = "spec.components.mig.on_remove";
  return data;
}

std::string removal_text(OnRemove on_remove) {
  if (on_remove == OnRemove::disable) return "disable MIG on the GPUs";
  return on_remove == OnRemove::restore ? "give the GPUs their former MIG layouts" : "leave the GPUs their MIG layouts";
}

/// Returns a line for all GPUs, followed by their memory slices now and after the change; empty: no GPU differs.
std::string shown_of(const Settings& settings, const std::vector<ChangeGroup>& changes) {
  if (changes.empty())
    return settings.state_file.empty() ? std::string() : "write the state of the layouts to " + settings.state_file;
  std::size_t gpus = 0;
  for (const ChangeGroup& each : changes) gpus += each.indices.size();
  const std::string line = changes.size() == 1
                               ? changes.front().name() + ": " + changes.front().first->change_text()
                               : fmt::format("{} GPUs get the layouts of {}", gpus, config_name(settings));
  return line + "\n" + changes_text(changes);
}

/// @param settled  from GpuDrains::settled_text()
Outcome together(const std::vector<Outcome>& outcomes, const std::string& settled) {
  using Kind = Outcome::Kind;
  Outcome all = Outcome::already_done();
  std::vector<std::string> reasons;
  for (const Outcome& each : outcomes) {
    if (each.kind == Kind::waiting || (each.kind == Kind::reboot_required && all.kind != Kind::waiting) ||
        (each.kind == Kind::done && all.kind == Kind::already_done))
      all.kind = each.kind;
    if (!each.reason.empty()) reasons.push_back(each.reason);
    all.holders.insert(all.holders.end(), each.holders.begin(), each.holders.end());
  }
  if (all.kind == Kind::waiting && !settled.empty()) reasons.push_back(settled + ", which nothing takes back");
  all.reason = joined(reasons, "; ");
  return all;
}

/// Empty: no state file is wanted.
std::string state_file_of(const Action& action) { return action.value("data").value("state_file", ""); }

/// An inverse action has no policy: it uses the default.
Result<nvidia::drain::Settings> drain_of(const Action& action) {
  return nvidia::drain::read_settings(action.value("data").value("drain", Json()), "action");
}

/// An action that restores a layout has no policy.
std::string drain_key_of(const Action& action) {
  return action.value("data").contains("drain") ? "spec.components.mig.drain" : "";
}

std::vector<std::string> clients_of(const Action& action) {
  return action.value("data").value("clients", std::vector<std::string>());
}

/// A GPU has waited for too long: other GPUs were changed before.
Error refused(Error error, const Action& action, const nvidia::drain::Settings& drain, const std::string& settled) {
  if (error.code == ErrorCode::busy && error.where.empty()) error.where = action.value("data").value("key", "");
  if (waits(drain) && !settled.empty()) error.details.emplace_back("so", settled + ", which nothing takes back");
  return error;
}

Result<Outcome> admit(const Action& action, const Host& host) {
  SLIPWAY_TRY(targets, targets_of(action));
  SLIPWAY_TRY(settings, drain_of(action));
  SLIPWAY_TRY(session, NvmlSession::open(host, driver_root_of(action)));
  SLIPWAY_TRY(gpus,
              GpuDrains::open(*session, host, targets, settings, drain_key_of(action), kubelet_socket_of(action)));
  const auto outcomes = gpus.admit(*session, clients_of(action));
  if (!outcomes) return refused(outcomes.error(), action, settings, gpus.settled_text());
  const bool any_may = std::ranges::count(*outcomes, Outcome::Kind::done, &Outcome::kind) != 0;
  Outcome all = together(*outcomes, gpus.settled_text());
  return any_may || all.kind == Outcome::Kind::already_done ? Outcome::done() : all;
}

Result<Outcome> change(const Action& action, const Host& host) {
  SLIPWAY_TRY(targets, targets_of(action));
  SLIPWAY_TRY(settings, drain_of(action));
  SLIPWAY_TRY(session, NvmlSession::open_for_apply(host, driver_root_of(action)));
  SLIPWAY_TRY(gpus,
              GpuDrains::open(*session, host, targets, settings, drain_key_of(action), kubelet_socket_of(action)));
  SLIPWAY_TRY(clients,
              StoppedClients::stop(host, gpus.any_changes() ? clients_of(action) : std::vector<std::string>()));
  auto begun = gpus.clear(*session);
  if (!begun) return refused(begun.error(), action, settings, gpus.settled_text());
  std::vector<Outcome> outcomes = std::move(*begun);
  std::vector<std::size_t> cleared;
  std::vector<Wanted> wanted;
  std::vector<std::string> ended;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].kind == Outcome::Kind::done) {
      cleared.push_back(i);
      wanted.push_back(gpus.wanted(i));
      if (!outcomes[i].reason.empty()) ended.push_back(std::move(outcomes[i].reason));
    }
  const HowToChange how{.busy = waits(settings) ? WhenBusy::go_on : WhenBusy::undo_all,
                        .resets = true,
                        .driver_root = driver_root_of(action)};
  const auto changed = change_gpus(*session, host, wanted, how);
  if (!changed) {
    Error error = changed.error();
    for (std::string& each : ended) error.details.emplace_back("so", std::move(each));
    return error;
  }
  std::optional<Error> too_late;  // other GPUs have changed, and are made usable
  for (std::size_t i = 0; i < cleared.size(); ++i) {
    outcomes[cleared[i]] = (*changed)[i];
    auto outcome = gpus.after(cleared[i], (*changed)[i]);
    if (outcome)
      outcomes[cleared[i]] = std::move(*outcome);
    else if (!too_late)
      too_late = std::move(outcome).error();
  }
  SLIPWAY_CHECK(make_capability_nodes(host));
  SLIPWAY_CHECK(clients.start());
  if (too_late) return refused(std::move(*too_late), action, settings, gpus.settled_text(outcomes));
  Outcome all = together(outcomes, gpus.settled_text(outcomes));
  if (!ended.empty()) all.reason = joined(ended, "; ") + (all.reason.empty() ? "" : "; " + all.reason);
  return all;
}

}  // namespace

bool is_left_to_a_boot(const Settings& settings) { return settings.drain.policy == nvidia::drain::Policy::next_boot; }

std::string config_name(const Settings& settings) {
  return settings.config.empty() ? "the config that the node's labels name" : "the config " + settings.config;
}

Action layouts_action(const Settings& settings, const Json& clients, const std::vector<Intent>& gpus) {
  Json targets = Json::array();
  Json former = Json::array();
  std::vector<std::string> exclusives;
  bool any_enabled = false;
  for (const Intent& each : gpus) {
    exclusives.push_back(nvidia::exclusive_of(each.gpu.uuid));
    targets.push_back(to_json(each.target));
    former.push_back(to_json(present(each.gpu)));
    any_enabled = any_enabled || each.target.enabled;
  }
  Json data = data_of(settings, std::move(targets));
  data["drain"] = to_json(settings.drain);
  if (!settings.state_file.empty()) data["state_file"] = settings.state_file;
  if (clients.is_array() && !clients.empty()) data["clients"] = clients;
  const bool disables = settings.on_remove == OnRemove::disable;
  const std::vector<ChangeGroup> changes = changes_of(gpus);
  Action action = action::custom({.name = kName,
                                  .data = std::move(data),
                                  .inverse = data_of(settings, std::move(former)),
                                  .irreversible = {},
                                  .summary = shown_of(settings, changes),
                                  .stays = settings.on_remove == OnRemove::keep,
                                  .on_removal = disables ? data_of_removal(settings, gpus) : Json(),
                                  .removal_summary = removal_text(settings.on_remove),
                                  .lost_at_boot = any_enabled || is_left_to_a_boot(settings),
                                  .exclusives = std::move(exclusives),
                                  .quiesces_services = true});
  if (changes.size() > 1) return action;  // the picture shows which instances stay
  const std::string instances = changes.empty() ? std::string() : changes.front().first->instances_text();
  action.because(instances.empty() ? config_name(settings) + " takes them" : instances);
  return action;
}

Action layouts_at_boot(const Settings& settings) {
  return action::custom({.name = kName,
                         .data = {{"config", settings.config}},
                         .inverse = nullptr,
                         .irreversible = "the layout of a GPU stays when the component leaves",
                         .summary = "partition the GPUs by " + config_name(settings),
                         .stays = true,
                         .removal_summary = {},
                         .lost_at_boot = true});
}

Action layouts_as_recorded() { return action::as_recorded("custom", kName); }

bool is_for_boot(const Host& host, const Error& error) { return !host.live() && error.code == ErrorCode::not_found; }

Result<bool> check_layouts(const Action& action, const Host& host) {
  SLIPWAY_TRY(targets, targets_of(action));
  if (StoppedClients::any_left(host)) return false;
  const auto session = NvmlSession::open(host, driver_root_of(action));
  if (!session) return is_for_boot(host, session.error());  // unknown; a boot changes what differs
  const auto gpus = open_gpus(**session, targets);
  if (!gpus) return false;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!(*gpus)[i].gpu.lost && !is_so((*gpus)[i].gpu, targets[i])) return false;
  const std::string state_file = state_file_of(action);
  return state_file.empty() || has_state(host, state_file, state::kSuccess);
}

Result<Outcome> preflight_layouts(const Action& action, const Host& host) {
  auto outcome = admit(action, host);
  const std::string state_file = state_file_of(action);
  if (state_file.empty() || (outcome && outcome->kind == Outcome::Kind::done)) return outcome;
  const Status written = write_state(host, state_file, outcome ? state_after(*outcome) : state::kFailed);
  if (outcome && !written) return written.error();
  return outcome;
}

Result<Outcome> apply_layouts(const Action& action, const Host& host) {
  const std::string state_file = state_file_of(action);
  if (state_file.empty()) return change(action, host);
  SLIPWAY_CHECK(write_state(host, state_file, state::kPending));
  auto outcome = change(action, host);
  const Status written = write_state(host, state_file, outcome ? state_after(*outcome) : state::kFailed);
  if (outcome && !written) return written.error();
  return outcome;
}

}  // namespace slipway::mig
