// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/silent_gpu.hpp - what to do about a GPU that cannot be read.
#pragma once

#include <string>

#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// @param state  of a GPU that has a `problem`
std::string silent_gpu_remedy(const GpuState& state);

}  // namespace slipway::dcgm
