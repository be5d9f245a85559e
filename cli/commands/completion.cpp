// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/reference/reference.hpp"

namespace slipway::core {

Result<int> run_completion(const Options& options, TerminalUi&) {
  const std::string wanted = options.arguments.size() == 1 ? options.arguments.front() : "";
  if (wanted == "bash") return print(bash_completion()), kExitDone;
  if (wanted == "zsh") return print(zsh_completion()), kExitDone;
  if (wanted == "fish") return print(fish_completion()), kExitDone;
  if (wanted == "man") return print(manual_page()), kExitDone;
  return Error{ErrorCode::usage,
               "completion of which shell?",
               "command line",
               "`slipway completion bash`, `zsh` or `fish`; `slipway completion man` prints the manual page",
               {}};
}

}  // namespace slipway::core
