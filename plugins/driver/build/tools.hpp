// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/tools.hpp - the tools of the component driver: `slipway driver build` and `kernels`.
#pragma once

#include <slipway/commands.hpp>

namespace slipway::driver {

class DriverTools final : public ToolTable {
 public:
  DriverTools();
};

}  // namespace slipway::driver
