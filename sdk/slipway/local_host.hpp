// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/local_host.hpp - the Host of a directory tree: "/", a mounted host, a root filesystem, a test's tree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway {

/// The location of a host, and the permitted access to it.
struct HostConfig {
  std::string root = "/";   ///< folder used as "/" for every path
  bool live = false;        ///< this kernel and init system are the root's own
  std::string kernel_view;  ///< folder with sys/, proc/ and dev/; empty: none, or when live the root if /proc is
                            ///< mounted there, else "/"
  std::string kernel;       ///< the release given with --kernel; empty: not given
  std::string hardware;     ///< "assume", "require" or "detect"
  std::vector<std::string> further_kernels = {};   ///< further releases given with --kernel
  bool booting = false;                            ///< slipway-boot.service applies
  std::optional<KernelChange> kernel_change = {};  ///< `slipway kernel` applies
};

/// Returns the host of a tool without a host option: this machine. When SLIPWAY_SIM and SLIPWAY_NVML name the state and
/// the library of a simulated machine, the host is that machine, which is not live; the kernel view stays this
/// machine's.
HostConfig host_of_tools();

Json to_json(const HostConfig& config);
HostConfig host_config_from_json(const Json& value);

/// Opens a host. Links from the root into /proc, /sys or /dev are followed inside the root only, and vice versa.
/// Errors: `not_found` or `invalid` when the root or the kernel view is not a folder.
Result<std::unique_ptr<Host>> open_host(const HostConfig& config);

}  // namespace slipway
