// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/capabilities.hpp - the capabilities of MIG instances, which programs need to open them: files
// below /proc/driver/nvidia/capabilities, and the device nodes that they stand for. The kernel module does not create
// the nodes.
//
//   gpuM/mig/giI/access, gpuM/mig/giI/ciC/access:  "DeviceFileMinor: 12", "DeviceFileMode: 292", "DeviceFileModify: 1"
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::mig {

struct Capability {
  std::string file;  ///< /proc/driver/nvidia/capabilities/gpu0/mig/gi1/access
  std::string node;  ///< /dev/nvidia-caps/nvidia-cap12
  unsigned minor = 0;
  unsigned mode = 0444;
  bool may_be_made = true;  ///< the driver allows programs to create the node
};

/// Returns the existing GPU instances and compute instances without a device node.
std::vector<Capability> missing_capabilities(const Host& host);

/// Creates the missing nodes of the running machine, as nvidia-modprobe does; on other machines it does nothing.
/// Errors: `not_found` no driver has the nodes' major number; those of the system.
Status make_capability_nodes(const Host& host);

}  // namespace slipway::mig
