// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/services.hpp - asks the services of a root for their state over their control sockets: one answer
// for status, verify and doctor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/json.hpp>

#include "core/engine/session.hpp"

namespace slipway::core {

/// The state of a service.
struct ServiceState {
  /// absent: no process has listened since the boot, or it ended in good order; died: its socket exists and its process
  /// does not; silent: no answer in time; refused: not for this user
  enum class Is { absent, died, starting, working, quiesced, silent, refused };
  Is is = Is::absent;
  std::string status;                ///< its own status line
  std::vector<std::string> reasons;  ///< the problems that it reports
  bool operator==(const ServiceState&) const = default;
};

/// {"state": "not-running|starting|working|quiet|no-answer|unknown", "status", "text": to_text(), "reasons"}
Json to_json(const ServiceState& state);
/// "working: 8 of 8 GPUs healthy"
std::string to_text(const ServiceState& state);

/// Asks the services that an apply installed, and those that a user started by hand. Asks all at once and waits for at
/// most two seconds, so that several hanging services cost no more time than one.
std::map<std::string, ServiceState> ask_services(Session& session);

/// The finding "NAME.service": fails when the service should run and does not, or does not answer; warns with the
/// reasons when it works and reports problems.
Finding service_finding(const Session& session, const std::string& component, const ServiceState& state);

}  // namespace slipway::core
