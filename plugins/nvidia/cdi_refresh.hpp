// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi_refresh.hpp - requests new CDI specs when a GPU, a MIG device or the driver appears or disappears:
// by a file that slipway-cdi-refresh.path waits for. A request during the writing of the specs creates the file again,
// so none is lost, and several requests count as one.
#pragma once

#include <optional>
#include <string>

#include <slipway/host.hpp>

namespace slipway::nvidia {

inline constexpr const char* kRefreshFile = "/run/slipway/cdi-refresh";
inline constexpr const char* kRefreshPathUnit = "slipway-cdi-refresh.path";
inline constexpr const char* kRefreshService = "slipway-cdi-refresh.service";

/// Creates the file if the component cdi has its units on a running machine; without them no program would remove it.
/// @return false: the units are missing, or the file cannot be created
bool ask_for_cdi_refresh(const Host& host);

/// Used by a service that reads NVML anyway: requests a refresh when the GPUs have changed.
class CdiRefresh {
 public:
  /// @param seen  the content that specs depend on: the driver's version, the UUIDs of the GPUs that answer and of
  ///   their
  ///              MIG devices; empty: the driver does not answer, and the next value counts as a change. The first is
  ///              not compared.
  void saw(const Host& host, std::string seen);

 private:
  std::optional<std::string> last_;
};

}  // namespace slipway::nvidia
