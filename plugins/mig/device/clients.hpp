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

namespace slipway::mig {

/// Errors: `invalid` it has another form, or names a unit that is not a service.
Result<std::vector<std::string>> clients_from_yaml(const std::string& text, const std::string& file);

/// Services that are stopped, and start again when this object ends. Their names are in /run/slipway/mig-clients.json
/// before the first one is stopped, so that after a crash the next change starts them. Works only on a running machine.
/// Borrows the host.
class StoppedClients {
 public:
  /// Stops the services that run. Errors: `busy` a service cannot be stopped; those that were stopped are started
  /// again.
  static Result<StoppedClients> stop(const Host& host, const std::vector<std::string>& units);
  StoppedClients(StoppedClients&& other) noexcept;
  StoppedClients& operator=(StoppedClients&&) = delete;
  ~StoppedClients();

  /// Starts the stopped services in reverse order, without waiting: at a boot they may be ordered after slipway.
  /// Errors: `io` a service does not start; the others are started.
  Status start();

  /// True when a crashed run has left stopped services.
  static bool any_left(const Host& host);

 private:
  explicit StoppedClients(const Host& host) : host_(&host) {}
  Status write() const;

  const Host* host_;
  std::vector<std::string> units_;
};

}  // namespace slipway::mig
