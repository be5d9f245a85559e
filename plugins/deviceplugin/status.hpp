// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/status.hpp - how the service fares: whether kubelet has what it offers, and its status file for
// people.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::deviceplugin {

/// What the service says, and what kubelet has.
struct Registered {
  bool kubelet = false;         ///< its folder is there
  std::optional<Json> status;   ///< of the service, from its status file
  bool running = false;         ///< the service is: else its file is about the past
  bool booting = false;         ///< kubelet may start later, so that what it has now is of another boot
  std::size_t gpus_on_bus = 0;  ///< those that the driver should show
  /// kubelet's checkpoint: healthy ids by resource; empty: it has none
  std::optional<std::map<std::string, std::vector<std::string>>> devices;
};

Registered read_registered(const Host& host, const std::string& kubelet_root);

/// The same once kubelet has what it was just sent, or the service says that it has had the time to take it: at most
/// ten seconds after the service's list changed. Not after `limit`, whatever the service says.
Registered wait_for_kubelet(const Host& host, const std::string& kubelet_root,
                            std::chrono::milliseconds limit = std::chrono::seconds(12));
/// "deviceplugin.health", "deviceplugin.registered".
void add_findings(const Registered& seen, Findings& findings);

/// "deviceplugin.registration": how long each resource took to be registered, or what it waits for.
void add_registration_findings(const Registered& seen, Findings& findings);

/// The resources that the service offers, and those that it has offered since the boot: kubelet may still know them.
/// @param status  what the service writes to status.json
std::set<std::string> offered_since_boot(const Json& status);

/// @param status  likewise
std::string status_text(const Json& status);

/// What node-problem-detector's custom plugins answer.
struct NodeProblem {
  static constexpr int kNone = 0;
  static constexpr int kProblem = 1;
  static constexpr int kUnknown = 2;
  int code = kUnknown;
  std::string line;  ///< of printable letters, at most 500
};
/// @param reasons  those that count: words of Health::reason, or their part before a number ("xid"); empty: all
NodeProblem node_problem_of(const Json& status, const std::vector<std::string>& reasons);

}  // namespace slipway::deviceplugin
