// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/conflicts.hpp - pods that have a device in another way than it is offered, from the service's
// status file.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/json.hpp>

namespace slipway::deviceplugin {

struct Conflict {
  std::string device;    ///< UUID
  std::string resource;  ///< the resource that offers it
  std::string text;
  std::string remedy;
};

/// @param status  the content of status.json, which the service writes
std::vector<Conflict> conflicts_in(const Json& status);

/// Adds "deviceplugin.sharing": a warning for each conflict.
void add_conflict_findings(const Json& status, Findings& findings);

}  // namespace slipway::deviceplugin
