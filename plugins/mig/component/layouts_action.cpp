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

/// The data of the action, as layouts_action.hpp describes it.
struct LayoutsData {
  std::vector<Target> targets;
  std::string driver_root;
  std::string kubelet_socket = nvidia::kubelet::kPodResourcesSocket;
  std::string state_file;            ///< empty: no program wants to know the state
  std::optional<Json> drain;         ///< as in the spec; nothing: an inverse, which has the default policy
  std::vector<std::string> clients;  ///< units that are stopped meanwhile
  std::string key;                   ///< of the spec, which an error names

  static Result<LayoutsData> from_json(const Json& json) {
    LayoutsData data;
    for (const Json& each : json.value("gpus", Json::array())) {
      SLIPWAY_TRY(target, target_from_json(each));
      data.targets.push_back(std::move(target));
    }
    data.driver_root = json.value("driver_root", "");
    data.kubelet_socket = json.value("kubelet_socket", nvidia::kubelet::kPodResourcesSocket);
    data.state_file = json.value("state_file", "");
    if (json.contains("drain")) data.drain = json["drain"];
    data.clients = json.value("clients", std::vector<std::string>());
    data.key = json.value("key", "");
    return data;
  }

  /// Leaves out members that have their default.
  Json json() const {
    Json json{{"gpus", Json::array()}};
    for (const Target& each : targets) json["gpus"].push_back(to_json(each));
    if (!driver_root.empty()) json["driver_root"] = driver_root;
    if (kubelet_socket != nvidia::kubelet::kPodResourcesSocket) json["kubelet_socket"] = kubelet_socket;
    if (!state_file.empty()) json["state_file"] = state_file;
    if (drain) json["drain"] = *drain;
    if (!clients.empty()) json["clients"] = clients;
    if (!key.empty()) json["key"] = key;
    return json;
  }

  Result<nvidia::drain::Settings> drain_settings() const {
    return nvidia::drain::read_settings(drain.value_or(Json()), "action");
  }
  /// An action that restores a layout has no policy.
  std::string drain_key() const { return drain ? "spec.components.mig.drain" : ""; }
};

LayoutsData data_for(const Settings& settings, std::vector<Target> targets) {
  LayoutsData data;
  data.targets = std::move(targets);
  data.driver_root = settings.driver_root;
  data.kubelet_socket = settings.kubelet_socket;
  return data;
}

Json data_of_removal(const Settings& settings, const std::vector<Intent>& gpus) {
  std::vector<Target> targets;
  for (const Intent& each : gpus) {
    Target target = present(each.gpu);
    target.enabled = false;
    target.instances.clear();
    targets.push_back(std::move(target));
  }
  LayoutsData data = data_for(settings, std::move(targets));
  data.key = "spec.components.mig.on_remove";
  return data.json();
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
  if (all.kind == Kind::waiting && !settled.empty()) reasons.push_back(settled + ", which cannot be undone");
  all.reason = joined(reasons, "; ");
  return all;
}

/// Returns the error of a change that waited too long; `settled` names GPUs that were changed before.
Error refused(Error error, const LayoutsData& data, const nvidia::drain::Settings& drain, const std::string& settled) {
  if (error.code == ErrorCode::busy && error.where.empty()) error.where = data.key;
  if (waits(drain) && !settled.empty()) error.details.emplace_back("so", settled + ", which cannot be undone");
  return error;
}

Result<Outcome> admit(const LayoutsData& data, const Host& host) {
  SLIPWAY_TRY(settings, data.drain_settings());
  SLIPWAY_TRY(session, NvmlSession::open(host, data.driver_root));
  SLIPWAY_TRY(gpus, GpuDrains::open(*session, host, data.targets, settings, data.drain_key(), data.kubelet_socket));
  const auto outcomes = gpus.admit(*session, data.clients);
  if (!outcomes) return refused(outcomes.error(), data, settings, gpus.settled_text());
  const bool any_may = std::ranges::count(*outcomes, Outcome::Kind::done, &Outcome::kind) != 0;
  Outcome all = together(*outcomes, gpus.settled_text());
  return any_may || all.kind == Outcome::Kind::already_done ? Outcome::done() : all;
}

Result<Outcome> change(const LayoutsData& data, const Host& host) {
  SLIPWAY_TRY(settings, data.drain_settings());
  SLIPWAY_TRY(session, NvmlSession::open_for_apply(host, data.driver_root));
  SLIPWAY_TRY(gpus, GpuDrains::open(*session, host, data.targets, settings, data.drain_key(), data.kubelet_socket));
  SLIPWAY_TRY(clients, StoppedClients::stop(host, gpus.any_changes() ? data.clients : std::vector<std::string>()));
  auto begun = gpus.clear(*session);
  if (!begun) return refused(begun.error(), data, settings, gpus.settled_text());
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
  const HowToChange how{
      .busy = waits(settings) ? WhenBusy::go_on : WhenBusy::undo_all, .resets = true, .driver_root = data.driver_root};
  const auto changed = change_gpus(*session, host, wanted, how);
  if (!changed) {
    Error error = changed.error();
    for (std::string& each : ended) error.details.emplace_back("so", std::move(each));
    return error;
  }
  std::optional<Error> too_late;  // kept until the other GPUs, which have changed, are made usable
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
  if (too_late) return refused(std::move(*too_late), data, settings, gpus.settled_text(outcomes));
  Outcome all = together(outcomes, gpus.settled_text(outcomes));
  if (!ended.empty()) all.reason = joined(ended, "; ") + (all.reason.empty() ? "" : "; " + all.reason);
  return all;
}

}  // namespace

bool waits_for_boot(const Settings& settings) { return settings.drain.policy == nvidia::drain::Policy::next_boot; }

std::string config_name(const Settings& settings) {
  return settings.config.empty() ? "the config that the node's labels name" : "the config " + settings.config;
}

Action layouts_action(const Settings& settings, const Json& clients, const std::vector<Intent>& gpus) {
  std::vector<Target> targets;
  std::vector<Target> former;
  std::vector<std::string> exclusives;
  bool any_enabled = false;
  for (const Intent& each : gpus) {
    exclusives.push_back(nvidia::exclusive_of(each.gpu.uuid));
    targets.push_back(each.target);
    former.push_back(present(each.gpu));
    any_enabled = any_enabled || each.target.enabled;
  }
  LayoutsData data = data_for(settings, std::move(targets));
  data.drain = to_json(settings.drain);
  data.state_file = settings.state_file;
  if (clients.is_array()) data.clients = clients.get<std::vector<std::string>>();
  const bool disables = settings.on_remove == OnRemove::disable;
  const std::vector<ChangeGroup> changes = changes_of(gpus);
  Action action = action::custom({.name = kName,
                                  .data = data.json(),
                                  .inverse = data_for(settings, std::move(former)).json(),
                                  .irreversible = {},
                                  .summary = shown_of(settings, changes),
                                  .stays = settings.on_remove == OnRemove::keep,
                                  .on_removal = disables ? data_of_removal(settings, gpus) : Json(),
                                  .removal_summary = removal_text(settings.on_remove),
                                  .lost_at_boot = any_enabled || waits_for_boot(settings),
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
                         .irreversible = "the layout of a GPU stays when the component is removed",
                         .summary = "partition the GPUs by " + config_name(settings),
                         .stays = true,
                         .removal_summary = {},
                         .lost_at_boot = true});
}

Action layouts_as_recorded() { return action::as_recorded("custom", kName); }

bool is_for_boot(const Host& host, const Error& error) { return !host.live() && error.code == ErrorCode::not_found; }

Result<bool> check_layouts(const Action& action, const Host& host) {
  SLIPWAY_TRY(data, action::custom_data<LayoutsData>(action));
  if (StoppedClients::any_left(host)) return false;
  const auto session = NvmlSession::open(host, data.driver_root);
  if (!session) return is_for_boot(host, session.error());  // unknown; a boot changes what differs
  const auto gpus = open_gpus(**session, data.targets);
  if (!gpus) return false;
  for (std::size_t i = 0; i < data.targets.size(); ++i)
    if (!(*gpus)[i].gpu.lost && !matches_target((*gpus)[i].gpu, data.targets[i])) return false;
  return data.state_file.empty() || has_state(host, data.state_file, state::kSuccess);
}

Result<Outcome> preflight_layouts(const Action& action, const Host& host) {
  SLIPWAY_TRY(data, action::custom_data<LayoutsData>(action));
  auto outcome = admit(data, host);
  if (data.state_file.empty() || (outcome && outcome->kind == Outcome::Kind::done)) return outcome;
  const Status written = write_state(host, data.state_file, outcome ? state_after(*outcome) : state::kFailed);
  if (outcome && !written) return written.error();
  return outcome;
}

Result<Outcome> apply_layouts(const Action& action, const Host& host) {
  SLIPWAY_TRY(data, action::custom_data<LayoutsData>(action));
  if (data.state_file.empty()) return change(data, host);
  SLIPWAY_CHECK(write_state(host, data.state_file, state::kPending));
  auto outcome = change(data, host);
  const Status written = write_state(host, data.state_file, outcome ? state_after(*outcome) : state::kFailed);
  if (outcome && !written) return written.error();
  return outcome;
}

}  // namespace slipway::mig
