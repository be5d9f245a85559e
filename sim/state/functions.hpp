// SPDX-License-Identifier: Apache-2.0
// sim/state/functions.hpp - a number for every function that the simulated library has.
#pragma once

#include <cstdint>

namespace slipway::sim {

enum class Function : std::uint32_t {
#define SLIPWAY_NVML_FUNCTION(name, since) name,
#include "sim/state/functions.def"
#undef SLIPWAY_NVML_FUNCTION
};

struct FunctionName {
  const char* name;
  std::uint32_t since;  ///< first driver branch with it; 450 stands for older ones too
};

inline constexpr FunctionName kFunctions[] = {
#define SLIPWAY_NVML_FUNCTION(name, since) {#name, since},
#include "sim/state/functions.def"
#undef SLIPWAY_NVML_FUNCTION
};

inline constexpr std::uint32_t kFunctionCount = sizeof kFunctions / sizeof kFunctions[0];

}  // namespace slipway::sim
