// SPDX-License-Identifier: Apache-2.0
#include "core/engine/records/unproven_change.hpp"

#include <algorithm>
#include <set>

#include <slipway/text.hpp>

#include "core/action/store/store.hpp"
#include "core/engine/root_lock.hpp"
#include "core/engine/unit/units.hpp"

namespace slipway::core {
namespace {

/// True when a kept set has a layer that the active set does not have, so that the layer would otherwise be removed.
Result<bool> keeps_anything(const RootFs& root, const std::string& name, const UnprovenStore& store) {
  SLIPWAY_TRY(active, layers_of_set(root, name, store.set));
  for (const std::string& set : store.former) {
    SLIPWAY_TRY(folders, layers_of_set(root, name, set));
    if (!std::ranges::includes(active, folders)) return true;
  }
  return false;
}

}  // namespace

std::string boot_id_of(const Host& host) {
  if (!host.has_kernel_view()) return {};
  return std::string(trimmed(host.read("/proc/sys/kernel/random/boot_id").value_or("")));
}

Result<std::vector<std::string>> kept_sets(const StateDir& state, const std::string& store) {
  SLIPWAY_TRY(change, state.unproven());
  const auto found = change.stores.find(store);
  return found == change.stores.end() || change.verified ? std::vector<std::string>{} : found->second.former;
}

Status note_former_sets(Session& session, const PlannedComponent& component, int base) {
  const std::string boot = boot_id_of(session.host());
  // A kernel that comes or goes adds or removes its modules of the same driver.
  if (base == 0 || boot.empty() || session.options().kernel_change) return {};
  SLIPWAY_TRY(change, session.state().unproven());
  const Json before = to_json(change);
  for (const PlannedItem& item : component.items) {
    const std::string name = item.kind->store(item.action);
    if (name.empty() || !item.changes() || item.removal) continue;
    SLIPWAY_TRY(set, active_set(session.root(), name));
    if (set.empty()) continue;
    if (change.verified || change.stores.empty())
      change = {.generation = base, .before = base, .boot_id = boot, .returned = change.returned};
    UnprovenStore& store = change.stores[name];
    store.component = component.name;
    if (store.set.empty()) store.set = set;
    if (std::ranges::count(store.former, set) == 0) store.former.push_back(set);
  }
  if (to_json(change) == before) return {};
  SLIPWAY_CHECK(session.state().write_unproven(change));
  return session.root().sync();
}

Status settle_unproven(Session& session, int generation) {
  SLIPWAY_TRY(change, session.state().unproven());
  const Json before = to_json(change);
  if (change.verified) return {};
  bool is_new = false;
  for (auto each = change.stores.begin(); each != change.stores.end();) {
    UnprovenStore& store = each->second;
    SLIPWAY_TRY(set, active_set(session.root(), each->first));
    if (set != store.set) is_new = !session.options().kernel_change;
    store.set = set;
    const bool is_back = set.empty() || set == store.former.front();
    SLIPWAY_TRY(keeps, is_back ? Result<bool>(false) : keeps_anything(session.root(), each->first, store));
    each = keeps ? std::next(each) : change.stores.erase(each);
  }
  if (is_new) {
    change.boot_id = boot_id_of(session.host());
    change.failed = false;
    change.attempts = 0;
  }
  change.generation = generation;
  return to_json(change) == before ? Status{} : session.state().write_unproven(change);
}

Status drop_verified(Session& session) {
  SLIPWAY_TRY(change, session.state().unproven());
  if (!change.verified) return {};
  for (const auto& [name, store] : change.stores) SLIPWAY_CHECK(drop_unused_layers(session.root(), name));
  change.stores.clear();
  SLIPWAY_CHECK(session.state().write_unproven(change));
  return session.root().sync();
}

Status note_verified_boot(Session& session, const std::map<std::string, Findings>& findings) {
  SLIPWAY_TRY(looked, session.state().unproven());
  const std::string boot = boot_id_of(session.host());
  if (!looked.waits() || boot.empty() || boot == looked.boot_id) return {};
  const auto passes = [&findings](const std::string& component) {
    const auto found = findings.find(component);
    return found == findings.end() || found->second.passed();
  };
  const bool passed = passes(kBootComponent) && std::ranges::all_of(looked.stores, [&](const auto& each) {
                        return findings.contains(each.second.component) && passes(each.second.component);
                      });
  const auto lock = RootLock::take(session.host_config().root, session.host_config().live);
  if (!lock && lock.error().code == ErrorCode::locked) return {};
  if (!lock) return lock.error();
  SLIPWAY_TRY(change, session.state().unproven());
  if (to_json(change) != to_json(looked)) return {};
  change.verified = passed;
  change.failed = !passed;
  for (const auto& [name, store] : change.stores)
    if (passed) std::erase(change.returned, name + "/" + store.set);
  if (to_json(change) == to_json(looked)) return {};
  SLIPWAY_CHECK(session.state().write_unproven(change));
  return session.root().sync();
}

}  // namespace slipway::core
