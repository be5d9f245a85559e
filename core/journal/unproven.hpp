// SPDX-License-Identifier: Apache-2.0
// core/journal/unproven.hpp - a change of packages that no boot has verified yet: until then the former layers stay in
// the store, so that going back needs no network.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>

namespace slipway::core {

/// A store of layers whose active set has changed.
struct UnprovenStore {
  std::string component;
  std::string set;                  ///< the active set, "set-HEX"
  std::vector<std::string> former;  ///< sets whose layers are kept: first the verified one, then those since
};

struct UnprovenChange {
  int generation = 0;                           ///< waits for the boot that verifies it
  int before = 0;                               ///< the last generation that was verified, or that no change preceded
  std::string boot_id;                          ///< of the boot in which it was applied: only another boot verifies it
  bool verified = false;                        ///< another boot has verified it: the former layers may be removed
  bool failed = false;                          ///< a boot could not verify the change, and it stays all the same
  int attempts = 0;                             ///< to return to `before` at a boot; an interrupted attempt counts
  std::map<std::string, UnprovenStore> stores;  ///< by the name of the store
  std::vector<std::string> returned;  ///< "STORE/set-HEX": sets that a boot gave up, which it does only once for each

  /// True while a change waits for a boot that verifies it.
  bool waits() const { return !verified && !stores.empty(); }
  /// True when there is nothing to record.
  bool is_empty() const { return stores.empty() && returned.empty(); }
};

Json to_json(const UnprovenChange& change);
/// Errors: throws when a value has another type, or there are no stores.
UnprovenChange unproven_from_json(const Json& value);

/// True when every name is one that a store may contain; a record of a hostile image may have any.
bool has_store_names(const UnprovenChange& change);

}  // namespace slipway::core
