// SPDX-License-Identifier: Apache-2.0
// plugins/mig/tools/tools.hpp - the tools of the component, and what each one does.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>

#include "mig/layout/intent.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

class MigTools final : public ToolTable {
 public:
  MigTools();
};

Result<int> run_apply(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_assert(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_export(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_generate(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_checkpoint(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_restore(const CommandWords& words, const Host& host, ToolIo& io);

/// All that differ, one after the other; when one fails or is in use, those before it get their former layouts back.
/// Nobody else changes these GPUs meanwhile, and the services of slipway are quiet.
/// @return the GPUs whose mode waits for a reset
Result<std::vector<std::string>> change_gpus(nvidia::nvml::Nvml& nvml, const std::vector<Intent>& intents,
                                             const Host& host, ToolIo& io);

}  // namespace slipway::mig
