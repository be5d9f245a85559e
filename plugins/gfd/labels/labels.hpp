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

/// The input of the labels, which depend on nothing else.
struct Sources {
  Snapshot snapshot;         ///< without GPUs: no driver, or none found
  std::string machine_type;  ///< from DMI; "unknown" if it cannot be read
  bool gpu_on_bus = false;   ///< a GPU is on the PCI bus, with or without a driver
  bool vgpu_known = false;   ///< the PCI functions could be read
  std::optional<VgpuHost> vgpu;
  std::int64_t timestamp = 0;  ///< time when the configuration was read, in seconds since 1970
};

/// Errors: `invalid` MPS with a GPU in MIG mode; `io` a driver version in an unknown format.
Result<Labels> make_labels(const Sources& sources, const Config& config);

/// Returns the labels that the GPU Operator sets on such a node: that it has GPUs, and the components to run there.
Labels operator_labels(const Sources& sources);

/// Returns the labels that Node Feature Discovery sets by itself, and that operators and charts select nodes by: the
/// PCI bus has a function of vendor 10de.
Labels pci_labels(const Sources& sources);

/// Adds gpu.product, gpu.count, gpu.memory and the like, by MIG strategy and sharing. On a node with several models the
/// labels name the most frequent one, or, of equally frequent ones, the one with the lowest index, so that every pass
/// names the same. GPUs without MIG come first.
void add_resource_labels(const Snapshot& snapshot, const Config& config, Labels& labels);

/// Returns a sentence for each entry of `sharing` that matches none of these GPUs: no label is made from it, and
/// deviceplugin rejects missing devices. Entries that one of `absent` may match are not reported.
std::vector<std::string> unmatched_sharing(const std::vector<Gpu>& gpus, const Config& config,
                                           const std::vector<nvidia::AbsentGpu>& absent = {});

/// Returns objects "gpu-0-node-NODE" with labels nvidia.com/gpu.product and gpu.uuid, and spec node, index, product,
/// memory (MiB).
std::vector<Json> device_objects(const Snapshot& snapshot, const std::string& node);

/// Returns the objects as YAML documents, with the keys in the usual order.
std::string to_yaml(const std::vector<Json>& objects);

}  // namespace slipway::gfd
