// SPDX-License-Identifier: Apache-2.0
// plugins/driver/live/replacement.hpp - the steps that replace a loaded driver by another one: before the files are
// switched, its users are asked to go and its modules are unloaded; at the end, what was stopped for that starts again.
#pragma once

#include <string>
#include <vector>

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/inputs.hpp>
#include <slipway/plan.hpp>

#include "driver/detect/host_facts.hpp"
#include "driver/settings.hpp"

namespace slipway::driver {

/// The driver that is to be loaded.
struct WantedDriver {
  std::string version;
  std::string flavour;  ///< empty: any

  bool is(const nvidia::LoadedDriver& loaded) const;
};

/// Reads what plans need to know of a replacement: the users of the loaded driver, unless the spec asks for exactly
/// that one, and whether an earlier apply was cut off in a replacement.
void read_replacement_facts(const Settings& settings, const Host& host, HostFacts& facts);

/// Adds the step that frees the loaded driver if that is not the wanted one, and notes of its users.
void add_release(const Settings& settings, const HostFacts& facts, const Target& target, const WantedDriver& wanted,
                 Plan& plan);
/// Adds the step that starts again what a replacement stopped.
void add_resumption(const Settings& settings, const HostFacts& facts, const Target& target, const WantedDriver& wanted,
                    Plan& plan);

/// True for the actions of these steps.
bool is_of_replacement(const Action& action);

// The component's check(), preflight() and apply() for them.
Result<bool> check_replacement(const Action& action, const Host& host);
Result<Outcome> admit_replacement(const Action& action, const Host& host);
Result<Outcome> apply_replacement(const Action& action, const Host& host);

}  // namespace slipway::driver
