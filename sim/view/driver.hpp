// SPDX-License-Identifier: Apache-2.0
// sim/view/driver.hpp - what the kernel of a simulated machine shows once its NVIDIA driver is loaded.
#pragma once

#include <string>

#include <slipway/result.hpp>

#include "sim/model/profile.hpp"
#include "sim/state/machine.hpp"

namespace slipway::core {

/// Writes sys/, proc/ and dev/ of the machine into `folder`, with the driver's modules, /proc/driver/nvidia, the MIG
/// capabilities of the instances that there are now, and device nodes (plain files for who may not make nodes). What of
/// these is there already is replaced; the rest of the folder is left alone.
/// Errors: of the file system.
Status write_sim_driver_tree(const SimProfile& profile, const sim::Machine& machine, const std::string& folder);

}  // namespace slipway::core
