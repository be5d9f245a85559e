// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/stopped_services.hpp - services of the host that use GPUs and are stopped while these change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia::drain {

/// True for the name of a service of systemd: "nvsm.service".
bool is_service(std::string_view name);

/// Services that are stopped, and start again when this object ends. Their names are in a file below /run before the
/// first one is stopped, so that after a crash the next change starts them. Works only on a running machine. Borrows
/// the host.
class StoppedServices {
 public:
  /// Stops those that run, and takes over those that an earlier change has left stopped.
  /// @param record  the file with their names: "/run/slipway/mig-clients.json"
  /// Errors: `busy` one cannot be stopped; the ones that were stopped are started again.
  static Result<StoppedServices> stop(const Host& host, std::string record, const std::vector<std::string>& units);
  StoppedServices(StoppedServices&& other) noexcept;
  StoppedServices& operator=(StoppedServices&&) = delete;
  ~StoppedServices();

  /// Starts them in reverse order, without waiting: at a boot they may be ordered after slipway. Errors: `busy` one
  /// does not start; the others do.
  Status start();
  /// They stay stopped when this object ends. A later stop() takes them over.
  void leave_stopped() { units_.clear(); }
  bool empty() const { return units_.empty(); }

  /// True when an earlier change has left stopped services.
  static bool any_left(const Host& host, const std::string& record);

 private:
  StoppedServices(const Host& host, std::string record) : host_(&host), record_(std::move(record)) {}
  Status write() const;

  const Host* host_;
  std::string record_;
  std::vector<std::string> units_;
};

}  // namespace slipway::nvidia::drain
