// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/clients.hpp - services of the host that use GPUs and are stopped while GPUs change: the clients
// file of nvidia-mig-manager.
//
//   version: v1
//   systemd-services: [nvsm.service, nvidia-dcgm.service]
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/drain/stopped_services.hpp"

namespace slipway::mig {

/// Errors: `invalid` it has another form, or names a unit that is not a service.
Result<std::vector<std::string>> clients_from_yaml(const std::string& text, const std::string& file);

/// The services that are stopped while MIG layouts change.
struct StoppedClients {
  static Result<nvidia::drain::StoppedServices> stop(const Host& host, const std::vector<std::string>& units);
  /// True when a crashed run has left stopped services.
  static bool any_left(const Host& host);
};

}  // namespace slipway::mig
