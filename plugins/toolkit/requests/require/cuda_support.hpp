// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/require/cuda_support.hpp - what images for CUDA ask of a machine, by tables, for who does
// not ask NVML: the newest CUDA of a driver and the brand of a GPU. Its compute capability is beside its architecture
// (gpu.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::shim {

/// The newest CUDA that a driver has, "12.2" for "535.104.05"; empty: its branch is none that is known.
std::string cuda_of_driver(std::string_view driver);

/// In lower case, by the product name, such as "Tesla V100-SXM2-32GB". Of some products the brand changed with the
/// driver: all that it may be. Empty: not known.
std::vector<std::string> brands_of(std::string_view product);

}  // namespace slipway::shim
