// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/vgpu.hpp - tells by PCI configuration space whether a GPU is a virtual one, and whose.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::gfd {

struct VgpuHost {
  std::string driver_version;  ///< "460.16"
  std::string driver_branch;   ///< "r460_00"
};

/// What the vendor specific capability of a vGPU says; empty: not a vGPU. Safe with any bytes.
/// Errors: `invalid` a vGPU whose record holds no driver version.
Result<std::optional<VgpuHost>> read_vgpu_record(std::string_view config_space);

/// All NVIDIA functions of the machine. With several vGPUs the last one's host counts, as upstream has it.
/// Errors: `denied` when a configuration space is cut short: only root reads all of it; that of read_vgpu_record().
Result<std::optional<VgpuHost>> find_vgpu(const Host& host);

}  // namespace slipway::gfd
