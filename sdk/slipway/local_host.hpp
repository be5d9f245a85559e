// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/local_host.hpp - the Host of a directory tree: "/", a mounted host, a root filesystem, a test's tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway {

/// Where a host is and how it may be touched.
struct HostConfig {
  std::string root = "/";   ///< folder that is "/" for every path
  bool live = false;        ///< this kernel and init system are the root's own
  std::string kernel_view;  ///< folder that holds sys/, proc/ and dev/; empty: none, or when live the root if /proc is
                            ///< mounted there, else "/"
  std::string kernel;       ///< the release asked for with --kernel; empty: not asked for
  std::string hardware;     ///< "assume", "require" or "detect"
  std::vector<std::string> further_kernels = {};  ///< asked for with --kernel besides `kernel`
  bool booting = false;                           ///< slipway-boot.service applies
};

/// The host of a tool that was not told where it works: this machine. Where SLIPWAY_SIM and SLIPWAY_NVML name the state
/// and the library of a simulated machine, that one, which is not live; the kernel's view stays this machine's.
HostConfig host_of_tools();

Json to_json(const HostConfig& config);
HostConfig host_config_from_json(const Json& value);

/// A link that leads from the root into /proc, /sys or /dev is followed inside the root only, and the other way round.
/// Errors: `not_found` or `invalid` when the root or the kernel's view is not a folder.
Result<std::unique_ptr<Host>> open_host(const HostConfig& config);

}  // namespace slipway
