// SPDX-License-Identifier: Apache-2.0
// sim/view/installed.hpp - the driver of a simulated machine is the one that its root has, once it has one.
#pragma once

#include <string>

#include <slipway/host.hpp>

#include "sim/model/machine.hpp"

namespace slipway::core {

/// The version of the libnvidia-ml.so that is installed in a root, "535.261.03"; empty: none.
std::string installed_driver_version(const Host& host);

/// Gives the machine in FOLDER/machine this driver, unless somebody has given it another one since it was made from
/// `profile` (slipway-sim FOLDER driver …). What else became of the machine stays. No machine is no error.
Status follow_installed_driver(const std::string& folder, const std::string& profile_version,
                               const std::string& version);

}  // namespace slipway::core
