// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/device_objects.hpp - a Device object (gpu.nvidia.com/v1) for each GPU of a node.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "gfd/labels/snapshot.hpp"

namespace slipway::gfd {

/// "gpu-0-node-NODE" with labels nvidia.com/gpu.product and gpu.uuid, and spec node, index, product, memory (MiB).
std::vector<Json> device_objects(const Snapshot& snapshot, const std::string& node);

/// The objects as YAML documents, keys in the order in which people write them.
std::string to_yaml(const std::vector<Json>& objects);

}  // namespace slipway::gfd
