// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/resource_labels.hpp - the labels about GPUs and MIG devices as things that pods ask for.
#pragma once

#include <vector>

#include "gfd/config.hpp"
#include "gfd/labels/label_value.hpp"
#include "gfd/labels/snapshot.hpp"

namespace slipway::gfd {

/// gpu.product, gpu.count, gpu.memory and the like, by MIG strategy and sharing. On a node with several models the most
/// numerous one is named, of equals the one with the lowest index: the same at every pass. GPUs without MIG come first.
void add_resource_labels(const std::vector<Gpu>& gpus, const Config& config, Labels& labels);

}  // namespace slipway::gfd
