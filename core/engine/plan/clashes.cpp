// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "core/action/action_kind.hpp"
#include "core/engine/plan/relations.hpp"

namespace slipway::core {
namespace {

struct Claimant {
  std::string component;
  bool holds = false;  ///< from an earlier apply; this run does not plan it
};

using Claims = std::map<std::string, Claimant>;

std::vector<std::string> claims_of(const PlannedComponent& planned) {
  std::vector<std::string> all;
  for (const PlannedItem& item : planned.items) {
    if (item.removal) continue;
    const auto claims = item.kind->claims(item.action);
    all.insert(all.end(), claims.begin(), claims.end());
  }
  return all;
}

/// What is planned of it says what it will hold. A deferred one is asked at its turn.
bool is_planned(const PlannedComponent& component) {
  return !component.error && component.state != ComponentState::blocked &&
         component.state != ComponentState::not_applicable;
}

Claims owned_by_the_unplanned(const PlannedRun& run, const std::map<std::string, Ownership>& owned) {
  Claims claims;
  for (const auto& [name, ownership] : owned) {
    const PlannedComponent* component = run.find(name);
    if (component != nullptr && is_planned(*component)) continue;
    for (const Owned& item : ownership.items)
      if (const auto kind = action_kind(item.action.kind()))
        for (const std::string& claim : (*kind)->claims(item.action)) claims.emplace(claim, Claimant{name, true});
  }
  return claims;
}

std::optional<Error> clash_in(const Claims& claims, const PlannedComponent& planned) {
  for (const std::string& claim : claims_of(planned)) {
    const auto at = claims.find(claim);
    if (at == claims.end() || at->second.component == planned.name) continue;
    const auto& [other, holds] = at->second;
    return Error{ErrorCode::conflict,
                 holds ? planned.name + " wants " + claim + ", which " + other + " holds"
                       : planned.name + " and " + other + " both want " + claim,
                 {},
                 holds ? "take " + other + " out of the spec and apply the whole spec first, or drop one of the two"
                       : "take one of the two out of the spec",
                 {}};
  }
  return std::nullopt;
}

void add_claims(Claims& claims, const PlannedComponent& component) {
  for (const std::string& claim : claims_of(component)) claims.emplace(claim, Claimant{component.name, false});
}

}  // namespace

void find_clashes(PlannedRun& run, const std::map<std::string, Ownership>& owned) {
  Claims claims = owned_by_the_unplanned(run, owned);
  for (PlannedComponent& component : run.components) {
    if (!is_planned(component)) continue;
    if (auto clash = clash_in(claims, component)) {
      component.state = ComponentState::failed;
      component.error = std::move(*clash);
    } else {
      add_claims(claims, component);
    }
  }
}

std::optional<Error> clash_of(const PlannedComponent& planned, const PlannedRun& run,
                              const std::map<std::string, Ownership>& owned) {
  Claims claims = owned_by_the_unplanned(run, owned);
  for (const PlannedComponent& other : run.components)
    if (other.name != planned.name && is_planned(other)) add_claims(claims, other);
  return clash_in(claims, planned);
}

}  // namespace slipway::core
