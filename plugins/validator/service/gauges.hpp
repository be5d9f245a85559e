// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/gauges.hpp - the service's gauges, with the names of GPU Operator's node-status-exporter.
#pragma once

#include <cstdint>
#include <string>

namespace slipway::validator {

/// Times are seconds since 1970; 0: never.
struct Gauges {
  std::string node;
  std::int64_t start_time = 0;
  bool driver_ready = false;  ///< the status file exists
  bool toolkit_ready = false;
  bool plugin_ready = false;
  bool cuda_ready = false;
  bool driver_valid = false;  ///< the last check passed
  std::int64_t driver_valid_time = 0;
  std::int64_t plugin_devices = -1;  ///< -1: not known
  std::int64_t plugin_valid_time = 0;
  std::int64_t pci_devices = -1;
};

/// Prometheus' text format (version 0.0.4).
std::string gauges_text(const Gauges& gauges);

}  // namespace slipway::validator
