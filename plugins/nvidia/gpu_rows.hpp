// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/gpu_rows.hpp - the table of GPUs that is compiled in: gpus.yaml as rows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {

struct ArchitectureRow {
  std::string_view name;
  ArchitectureSupport support;
};

/// A range of PCI device ids. Ranges may lie in one another.
struct ChipRow {
  std::uint16_t first;
  std::uint16_t last;
  std::string_view architecture;
  std::string_view compute;  ///< compute capability; empty: unknown
  bool requires_open;        ///< also without what the architecture says
};

struct BoardRow {
  std::uint16_t device;
  std::string_view name;
};

#include "gpu_rows.inc"

}  // namespace slipway::nvidia
