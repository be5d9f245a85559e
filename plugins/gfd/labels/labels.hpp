// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/labels.hpp - node labels, with the keys and values of GPU Feature Discovery v0.20.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "gfd/labels/config.hpp"
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

/// What Node Feature Discovery sets by itself, and operators and charts select nodes by: a function of vendor 10de is
/// on the PCI bus.
Labels pci_labels(const Sources& sources);

/// gpu.product, gpu.count, gpu.memory and the like, by MIG strategy and sharing. On a node with several models the most
/// numerous one is named, of equals the one with the lowest index: the same at every pass. GPUs without MIG come first.
void add_resource_labels(const Snapshot& snapshot, const Config& config, Labels& labels);

/// What the config shares and these GPUs are not, a sentence each: no label is made of it, and deviceplugin refuses
/// devices that are not there. What one of `absent` may have is not refused.
std::vector<std::string> unmatched_sharing(const std::vector<Gpu>& gpus, const Config& config,
                                           const std::vector<nvidia::AbsentGpu>& absent = {});

/// "gpu-0-node-NODE" with labels nvidia.com/gpu.product and gpu.uuid, and spec node, index, product, memory (MiB).
std::vector<Json> device_objects(const Snapshot& snapshot, const std::string& node);

/// The objects as YAML documents, keys in the order in which people write them.
std::string to_yaml(const std::vector<Json>& objects);

}  // namespace slipway::gfd
