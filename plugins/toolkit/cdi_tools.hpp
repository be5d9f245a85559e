// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi_tools.hpp - `slipway toolkit cdi generate | list | validate`, with nvidia-ctk's flag names.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>

#include "toolkit/cdi/generate.hpp"

namespace slipway::toolkit {

class CdiTools final : public Commands {
 public:
  std::vector<ToolInfo> list() const override;
  Result<int> run(std::string_view tool, const std::vector<std::string>& arguments, const Host& host,
                  ToolIo& io) const override;
};

/// The options of `generate`.
struct GenerateArguments {
  GenerateOptions options;
  std::string output;  ///< empty: standard output
  bool json = false;
  std::string driver_root;  ///< empty: /
  std::string dev_root;     ///< empty: the driver root
};

/// Errors: `invalid` for an unknown option (naming the nearest), a missing or wrong value.
Result<GenerateArguments> parse_generate_arguments(const std::vector<std::string>& words);

std::string generate_usage();

}  // namespace slipway::toolkit
