// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/mig_profile.hpp - the MIG devices of one GPU, with their profiles' names and capability nodes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "deviceplugin/devices/inventory.hpp"

namespace slipway::deviceplugin {

/// Minor numbers of capability nodes by name: "gpu0/gi1/ci0/access" -> 12.
using MigMinors = std::map<std::string, unsigned>;

/// Devices that go away while they are read are left out.
nvidia::nvml::Answer<std::vector<MigDevice>> read_mig_devices(nvidia::nvml::Nvml& nvml, nvmlDevice_t handle,
                                                              const Gpu& gpu, const MigMinors& minors);

/// Those of /proc/driver/nvidia-caps/mig-minors; without the file none.
MigMinors read_mig_minors(const Host& host);
MigMinors parse_mig_minors(std::string_view text);

}  // namespace slipway::deviceplugin
