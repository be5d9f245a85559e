// SPDX-License-Identifier: Apache-2.0
// gpus.hpp - AMD's GPUs: their PCI functions, and the data that amdgpu adds when it is loaded.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace rocm {

struct Gpu {
  std::string address;             ///< "0000:05:00.0"
  std::string device_id;           ///< "74a1", in the node labeller's form
  std::string product;             ///< "AMD Instinct MI300X OAM"; empty when amdgpu does not report it
  std::vector<std::string> nodes;  ///< "/dev/dri/card1", "/dev/dri/renderD128"; empty while amdgpu is not loaded
  std::uint64_t vram_gib = 0;
  unsigned simd_count = 0;
  unsigned cu_count = 0;
  std::string family;  ///< "AI"; empty for an unknown one
};

/// Returns the PCI functions that amdgpu drives: AMD's display controllers and processing accelerators.
std::vector<slipway::PciDevice> functions(const slipway::Host& host);

/// Returns the GPUs in the order of their PCI addresses, which is that of amdgpu's numbers.
std::vector<Gpu> gpus(const slipway::Host& host);

slipway::Json to_json(const Gpu& gpu);
Gpu gpu_from_json(const slipway::Json& value);

}  // namespace rocm
