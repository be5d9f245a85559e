// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/services.hpp - whether the services of a root run, asked by their control sockets: one answer for
// status, verify and doctor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/json.hpp>

#include "core/engine/session.hpp"

namespace slipway::core {

/// How a service is.
struct ServiceState {
  /// absent: nobody has listened since the boot, or it ended in good order; died: its socket is there and its process
  /// is not; silent: no answer in time; refused: not for this user
  enum class Is { absent, died, starting, working, quiet, silent, refused };
  Is is = Is::absent;
  std::string status;                ///< its own line on how things are
  std::vector<std::string> reasons;  ///< what is not as it should be
  bool operator==(const ServiceState&) const = default;
};

/// {"state": "not-running|starting|working|quiet|no-answer|unknown", "status", "text": to_text(), "reasons"}
Json to_json(const ServiceState& state);
/// "working: 8 of 8 GPUs healthy"
std::string to_text(const ServiceState& state);

/// Of the components for which an apply left a service, and of those whose service somebody started by hand. All are
/// asked at once, for two seconds at most: several that hang cost no more time than one.
std::map<std::string, ServiceState> ask_services(Session& session);

/// "NAME.service": fails where the service should run and does not, or does not answer; a warning with the reasons of
/// one that works and reports some.
Finding service_finding(const Session& session, const std::string& component, const ServiceState& state);

}  // namespace slipway::core
