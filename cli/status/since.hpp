// SPDX-License-Identifier: Apache-2.0
// cli/status/since.hpp - since when things are as they are: times are RFC 3339 in UTC, empty where nobody knows.
#pragma once

#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "core/journal/state_dir.hpp"

namespace slipway::core {

/// Since when each component of the generation is applied as it is there: the time of the earliest one, going back by
/// what was in force before, that has it so.
std::map<std::string, std::string> applied_since(const StateDir& state, const Generation& current);

/// Since when a component has ended each apply in this state, by the root's log.
/// @param events  cli/history, oldest first; whoever made a root may have written anything there
std::string failing_since(const std::vector<Json>& events, const std::string& component, const std::string& state);

/// "3 h" since a time; "-" where it is unknown, "now" where it is less than a minute ago, or ahead.
std::string age_text(const std::string& since, std::time_t now);

}  // namespace slipway::core
