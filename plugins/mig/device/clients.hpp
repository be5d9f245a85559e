// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/clients.hpp - services of the host that use GPUs and stand still while GPUs change: the clients
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

/// Errors: `invalid` it has another form, or names what is not a service.
Result<std::vector<std::string>> clients_from_yaml(const std::string& text, const std::string& file);

/// Services that were stopped, and start again when this ends. Which ones stands in /run/slipway/mig-clients.json from
/// before the first is stopped, so that whoever is killed leaves it to the next change. Only on a machine that runs.
/// Borrows the host.
class StoppedClients {
 public:
  /// Stops those that run. Errors: `busy` one cannot be stopped; those that were are started again.
  static Result<StoppedClients> stop(const Host& host, const std::vector<std::string>& units);
  StoppedClients(StoppedClients&& other) noexcept;
  StoppedClients& operator=(StoppedClients&&) = delete;
  ~StoppedClients();

  /// Starts them, in the other order, without waiting: at a boot they may have to wait for us. Errors: `io` one does
  /// not start; the others do.
  Status start();

  /// Somebody who was killed has left stopped ones.
  static bool any_left(const Host& host);

 private:
  explicit StoppedClients(const Host& host) : host_(&host) {}
  Status write() const;

  const Host* host_;
  std::vector<std::string> units_;
};

}  // namespace slipway::mig
