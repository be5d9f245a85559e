// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/status.hpp - how the service fares: whether kubelet has what it offers, and its status file for
// people.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::deviceplugin {

/// What the service says, and what kubelet has.
struct Registered {
  bool kubelet = false;                                ///< its folder is there
  std::optional<Json> status;                          ///< of the service, from its status file
  bool running = false;                                ///< the service is: else its file is about the past
  std::optional<std::map<std::string, long>> devices;  ///< kubelet's checkpoint: ids by resource; empty: it has none
};

Registered read_registered(const Host& host, const std::string& kubelet_root);
/// "deviceplugin.health", "deviceplugin.registered".
void add_findings(const Registered& seen, Findings& findings);

/// @param status  what the service writes to status.json
std::string status_text(const Json& status);

}  // namespace slipway::deviceplugin
