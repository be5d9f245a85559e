// SPDX-License-Identifier: Apache-2.0
// sim/view/driver.hpp - the kernel's output on a simulated machine whose NVIDIA driver is loaded, and that driver's
// version.
#pragma once

#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "sim/model/machine.hpp"
#include "sim/model/profile.hpp"
#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Writes sys/, proc/ and dev/ of the machine into `folder`, with the driver's modules, /proc/driver/nvidia, the MIG
/// capabilities of the current instances, and device nodes (plain files if this user may not create nodes). Existing
/// ones are replaced; the rest of the folder is not changed. Errors: those of the file system.
Status write_sim_driver_tree(const SimProfile& profile, const sim::Machine& machine, const std::string& folder);

/// Writes proc/PID into `folder` for each process of this machine that was attached to a GPU: its stat and cgroup, as
/// they are now, and the device node that it holds open. The kernel shows no other processes.
Status write_sim_processes(const sim::Machine& machine, const std::string& folder);

/// Updates the MIG instances in `folder`, which write_sim_driver_tree() wrote: their files in
/// /proc/driver/nvidia/capabilities and their device nodes. Unchanged files are not touched.
Status follow_sim_instances(const sim::Machine& machine, const std::string& folder);

/// Returns /proc/driver/nvidia-caps/mig-minors: the fixed table of minors, for the kernel module's maximum of GPUs and
/// instances.
std::string sim_minors_table();

/// Returns the version of the libnvidia-ml.so that is installed in a root, "535.261.03"; empty: none.
std::string installed_driver_version(const Host& host);

/// Sets the driver of the machine in FOLDER/machine, unless a user has changed it since it was created from `profile`
/// (slipway-sim FOLDER driver …). Other changes of the machine stay. A missing machine is not an error.
Status follow_installed_driver(const std::string& folder, const std::string& profile_version,
                               const std::string& version);

}  // namespace slipway::sim
