// SPDX-License-Identifier: Apache-2.0
// Functions that the real library exports and no simulated GPU supports: they always return NOT_SUPPORTED.
#include "sim/nvml/call.hpp"

using namespace slipway::sim;

#define SLIPWAY_NVML_ABSENT(name)                                                                           \
  SLIPWAY_NVML_EXPORT name() {                                                                              \
    return with_machine(Function::name, [](Machine&) -> nvmlReturn_t { return NVML_ERROR_NOT_SUPPORTED; }); \
  }
#include "sim/nvml/unsupported_functions.def"
#undef SLIPWAY_NVML_ABSENT
