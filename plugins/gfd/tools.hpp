// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/tools.hpp - `slipway gfd labels` and `slipway gfd devices`.
#pragma once

#include <slipway/commands.hpp>

namespace slipway::gfd {

class Tools final : public Commands {
 public:
  std::vector<ToolInfo> list() const override;
  Result<int> run(std::string_view tool, const std::vector<std::string>& arguments, const Host& host,
                  ToolIo& io) const override;
};

}  // namespace slipway::gfd
