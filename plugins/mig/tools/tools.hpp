// SPDX-License-Identifier: Apache-2.0
// plugins/mig/tools/tools.hpp - the tools of the component, and their purpose.
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

CommandTable show_line();

/// The option "--kubelet-socket PATH": the socket where kubelet is asked for the pods' devices; as for ask_kubelet().
CommandOption kubelet_socket();
std::string kubelet_socket_of(const CommandWords& words);

Result<int> run_apply(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_assert(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_export(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_generate(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_checkpoint(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_show(const CommandWords& words, const Host& host, ToolIo& io);
Result<int> run_restore(const CommandWords& words, const Host& host, ToolIo& io);

}  // namespace slipway::mig
