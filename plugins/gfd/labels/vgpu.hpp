// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/vgpu.hpp - reads from the PCI configuration space whether a GPU is a virtual one, and its vendor's
// data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::gfd {

struct VgpuHost {
  std::string driver_version;  ///< "460.16"
  std::string driver_branch;   ///< "r460_00"
};

/// The header and all standard capabilities. The rest, up to 4,096 bytes, is not needed and slow to read.
inline constexpr std::uint32_t kConfigSpaceBytes = 256;

/// Reads `size_bytes` of a function's configuration space from `at` on, fewer at its end. Each word is an access to the
/// device, which takes 25 us on an H100 in a virtual machine, so only the needed words are read.
using ConfigSpace = std::function<Result<std::string>(std::uint32_t at, std::uint32_t size_bytes)>;

/// Reads the vendor specific capability of a vGPU; empty: not a vGPU. Safe with any bytes. Errors: `invalid` a vGPU
/// whose record has no driver version; `denied` the configuration space is incomplete: only root can read all of it;
/// those of `space`.
Result<std::optional<VgpuHost>> read_vgpu_record(const ConfigSpace& space);

/// Searches all NVIDIA GPUs of the machine. With several vGPUs the last one's host counts, as upstream does. Errors:
/// those of read_vgpu_record(), with the place.
Result<std::optional<VgpuHost>> find_vgpu(const Host& host);

}  // namespace slipway::gfd
