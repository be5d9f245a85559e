// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/tools.hpp - the tools of the component driver: `slipway driver build` and `kernels`.
#pragma once

#include <slipway/commands.hpp>

namespace slipway::driver {

class DriverTools final : public Commands {
 public:
  std::vector<ToolInfo> list() const override;
  Result<int> run(std::string_view tool, const std::vector<std::string>& arguments, const Host& host,
                  ToolIo& io) const override;
};

}  // namespace slipway::driver
