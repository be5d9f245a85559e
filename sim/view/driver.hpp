// SPDX-License-Identifier: Apache-2.0
// sim/view/driver.hpp - what the kernel of a simulated machine shows once its NVIDIA driver is loaded, and which
// driver that is.
#pragma once

#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "sim/model/machine.hpp"
#include "sim/model/profile.hpp"
#include "sim/state/machine.hpp"

namespace slipway::core {

/// Writes sys/, proc/ and dev/ of the machine into `folder`, with the driver's modules, /proc/driver/nvidia, the MIG
/// capabilities of the instances that there are now, and device nodes (plain files for who may not make nodes). What of
/// these is there already is replaced; the rest of the folder is left alone.
/// Errors: of the file system.
Status write_sim_driver_tree(const SimProfile& profile, const sim::Machine& machine, const std::string& folder);

/// Writes proc/PID into `folder` for each process of this machine that was attached to a GPU: its stat and cgroup, as
/// they are now, and the device node that it holds open. Of the others the kernel shows nothing.
Status write_sim_processes(const sim::Machine& machine, const std::string& folder);

/// Shows in `folder`, which write_sim_driver_tree() wrote, the MIG instances that the machine has by now: their files
/// in /proc/driver/nvidia/capabilities and their device nodes. What has not changed is not touched.
Status follow_sim_instances(const sim::Machine& machine, const std::string& folder);

/// /proc/driver/nvidia-caps/mig-minors: the fixed table of minors, for as many GPUs and instances as the kernel module
/// foresees.
std::string sim_minors_table();

/// The version of the libnvidia-ml.so that is installed in a root, "535.261.03"; empty: none.
std::string installed_driver_version(const Host& host);

/// Gives the machine in FOLDER/machine this driver, unless somebody has given it another one since it was made from
/// `profile` (slipway-sim FOLDER driver …). What else became of the machine stays. No machine is not an error.
Status follow_installed_driver(const std::string& folder, const std::string& profile_version,
                               const std::string& version);

}  // namespace slipway::core
