// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/require/cuda_support.hpp - the requirements of CUDA images, from tables, for callers that do
// not use NVML: the newest CUDA of a driver and the brand of a GPU. Its compute capability is beside its architecture
// (gpu.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::shim {

/// Returns the newest CUDA version of a driver, "12.2" for "535.104.05"; empty: its branch is unknown.
std::string cuda_of_driver(std::string_view driver);

/// Returns the lower-case brands for a product name such as "Tesla V100-SXM2-32GB". The brand of some products depends
/// on the driver: then all possible ones. Empty: unknown.
std::vector<std::string> brands_of(std::string_view product);

}  // namespace slipway::shim
