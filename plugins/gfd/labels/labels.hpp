// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/labels.hpp - node labels, with the keys and values of GPU Feature Discovery v0.20.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <slipway/result.hpp>

#include "gfd/config.hpp"
#include "gfd/labels/label_value.hpp"
#include "gfd/labels/snapshot.hpp"
#include "gfd/labels/vgpu.hpp"

namespace slipway::gfd {

/// All that labels are made of; a pure function of it.
struct Sources {
  Snapshot snapshot;         ///< without GPUs: no driver, or none found
  std::string machine_type;  ///< as DMI says it; "unknown" where it cannot be read
  bool gpu_on_bus = false;   ///< with or without a driver
  bool vgpu_known = false;   ///< the PCI functions could be looked at
  std::optional<VgpuHost> vgpu;
  std::int64_t timestamp = 0;  ///< seconds since 1970, of when the configuration was read
};

/// Errors: `invalid` MPS with a GPU in MIG mode; `io` a driver version of no known form.
Result<Labels> make_labels(const Sources& sources, const Config& config);

/// What the GPU Operator sets on a node of this kind: that it has GPUs, and which of its components belong there.
Labels operator_labels(const Sources& sources);

}  // namespace slipway::gfd
