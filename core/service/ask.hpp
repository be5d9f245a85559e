// SPDX-License-Identifier: Apache-2.0
// core/service/ask.hpp - asks the services that run in a root how they are, by their control sockets.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::core {

/// How a service is.
struct ServiceState {
  enum class Is { absent, starting, working, quiet, silent, refused };
  Is is = Is::absent;                ///< absent: nobody listens; silent: no answer in time; refused: not for this user
  std::string status;                ///< its own line on how things are
  std::vector<std::string> reasons;  ///< what is not as it should be
  bool operator==(const ServiceState&) const = default;
};

/// {"state": "not-running|starting|working|quiet|no-answer|unknown", "status", "reasons"}
Json to_json(const ServiceState& state);
/// "working: 8 of 8 GPUs healthy"
std::string to_text(const ServiceState& state);

/// All at once, so that several that hang cost no more time than one.
std::map<std::string, ServiceState> ask_services(const RootDir& root, const std::vector<std::string>& components,
                                                 std::chrono::milliseconds limit);

}  // namespace slipway::core
