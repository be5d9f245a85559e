// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/tools.hpp - `slipway toolkit cdi generate | list | transform | validate`, with
// nvidia-ctk's flag names.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>

#include "toolkit/cdi/generate.hpp"
#include "toolkit/environment.hpp"

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

/// An option that is not given takes nvidia-ctk's variable for it, NVIDIA_CTK_CDI_GENERATE_MODE and so on.
/// Errors: `invalid` for an unknown option (naming the nearest), a missing or wrong value.
Result<GenerateArguments> parse_generate_arguments(const std::vector<std::string>& words,
                                                   const Environment& environment);

std::string generate_usage();

/// `transform root`: reads a spec, moves the paths of the host or of containers from one root to another, writes it.
Result<int> run_transform(const std::vector<std::string>& words, const Host& host, ToolIo& io);
std::string transform_usage();

}  // namespace slipway::toolkit
