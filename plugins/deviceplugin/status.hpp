// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/status.hpp - the state of the service: whether kubelet has its offer, and its status file for
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

/// The service's status and kubelet's devices.
struct Registered {
  bool kubelet = false;         ///< kubelet's folder exists
  std::optional<Json> status;   ///< of the service, from its status file; empty: no file
  bool running = false;         ///< the service runs; else its status file is outdated
  bool booting = false;         ///< kubelet may start later, so its current data is from another boot
  std::size_t gpus_on_bus = 0;  ///< number of GPUs that the driver should show
  /// healthy ids by resource in kubelet's checkpoint; empty without a checkpoint
  std::optional<std::map<std::string, std::vector<std::string>>> devices;
};

Registered read_registered(const Host& host, const std::string& kubelet_root);

/// Reads the same after kubelet has taken the newest list, or has had ten seconds for it since the service's list
/// changed. Returns after `limit` at the latest.
Registered wait_for_kubelet(const Host& host, const std::string& kubelet_root,
                            std::chrono::milliseconds limit = std::chrono::seconds(12));
/// "deviceplugin.health", "deviceplugin.registered".
void add_findings(const Registered& seen, Findings& findings);

/// Adds "deviceplugin.registration": how long each resource took to be registered, or what it waits for.
void add_registration_findings(const Registered& seen, Findings& findings);

/// The resources that the service offers, and those that it has offered since the boot: kubelet may still know them.
/// @param status  what the service writes to status.json
std::set<std::string> offered_since_boot(const Json& status);

/// @param status  likewise
std::string status_text(const Json& status);

/// The answer to node-problem-detector's custom plugin monitor.
struct NodeProblem {
  static constexpr int kNone = 0;
  static constexpr int kProblem = 1;
  static constexpr int kUnknown = 2;
  int code = kUnknown;
  std::string line;  ///< printable characters, at most 500
};
/// @param reasons  the reasons that count: words of Health::reason, or their part before a number ("xid"); empty: all
NodeProblem node_problem_of(const Json& status, const std::vector<std::string>& reasons);

}  // namespace slipway::deviceplugin
