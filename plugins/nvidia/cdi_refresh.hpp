// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/cdi_refresh.hpp - how whoever sees a GPU, a MIG device or the driver come or go has the CDI specs
// written anew: by a file that slipway-cdi-refresh.path waits for. A request that comes while the specs are being
// written is a file again, so none is lost, and any number of them is one.
#pragma once

#include <optional>
#include <string>

#include <slipway/host.hpp>

namespace slipway::nvidia {

inline constexpr const char* kRefreshFile = "/run/slipway/cdi-refresh";
inline constexpr const char* kRefreshPathUnit = "slipway-cdi-refresh.path";
inline constexpr const char* kRefreshService = "slipway-cdi-refresh.service";

/// Makes the file, where the component cdi has left its units on a running machine; elsewhere nobody would take it
/// away.
/// @return false: nobody follows here, or the file cannot be made
bool ask_for_cdi_refresh(const Host& host);

/// Of a service that looks at NVML anyway: asks when it sees other things than before.
class CdiRefresh {
 public:
  /// @param seen  what specs have of the machine: the driver's version, the UUIDs of the GPUs that answer and of their
  ///              MIG devices; empty: the driver does not answer, so that what is seen after it is news. The first is
  ///              compared with nothing.
  void saw(const Host& host, std::string seen);

 private:
  std::optional<std::string> last_;
};

}  // namespace slipway::nvidia
