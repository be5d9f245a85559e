// SPDX-License-Identifier: Apache-2.0
// sim/model/vgpu.hpp - the simulated machine as a guest whose GPUs are vGPUs.
#pragma once

#include <optional>
#include <string>

#include "sim/model/profile.hpp"

namespace slipway::core {

struct SimVgpuHost {
  std::string driver_version;  ///< of the host, at most 10 characters, as "550.54.16"
  std::string branch;          ///< as "r550_40"
};

/// What the setting vgpu=VERSION/BRANCH says; empty: there is none, or it is not of this form.
std::optional<SimVgpuHost> sim_vgpu_host(const SimProfile& profile);

/// The vendor specific PCI capability by which a vGPU tells its host: 09, next, length, "VF", then a part of id, length
/// and the two texts, each padded to 10 bytes (what NVIDIA's feature discovery reads).
std::string sim_vgpu_record(const SimVgpuHost& host);

}  // namespace slipway::core
