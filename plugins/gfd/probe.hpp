// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/probe.hpp - repeated checks of the machine, each with an NVML of its own.
#pragma once

#include <optional>
#include <string>

#include <slipway/host.hpp>

#include "gfd/labels/config.hpp"
#include "gfd/labels/labels.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::gfd {

/// The result of a check. Some labels exist even without a driver.
struct ProbeResult {
  Sources sources;
  std::optional<Error> no_driver;  ///< why NVML could not be used: not installed, not loaded, versions differ
};

/// Opens NVML for each check and closes it afterwards, so that no GPU stays busy in between, and a driver that was
/// loaded, unloaded or updated is noticed.
class Probe {
 public:
  /// NVML is closed after each check, except in a tool, whose process ends then. A service waits for a hanging GPU; a
  /// command reads what other workers know about it (NvmlOptions::find_hanging).
  enum class Use { service, command, tool };

  /// `host` is borrowed.
  Probe(const Host& host, Config config, Use use = Use::service);
  /// Errors: a reason that makes the check worthless, such as no GPU that answers; `denied` SLIPWAY_NVML is rejected.
  /// @param sharing  the settings of the labels, which may have changed since the last check
  Result<ProbeResult> look(const nvidia::config::Sharing& sharing);

 private:
  Result<Snapshot> ask_nvml(bool with_places, std::optional<Error>& no_driver);

  const Host& host_;
  Config config_;
  Use use_;
  std::int64_t timestamp_;
  std::optional<nvidia::nvml::Nvml> nvml_;
};

}  // namespace slipway::gfd
