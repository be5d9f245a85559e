// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/system/command.hpp"

#include <utility>

namespace slipway::deviceplugin {

Result<pid_t> start_command(std::vector<std::string> argv, std::vector<std::string> environment, int output) {
  return start_program({.argv = std::move(argv),
                        .environment = std::move(environment),
                        .descriptors = {kDevNull, output, output},
                        .own_session = true});
}

Result<CommandOutput> run_command(std::vector<std::string> argv, std::vector<std::string> environment,
                                  const std::string& input, std::chrono::milliseconds limit) {
  SLIPWAY_TRY(result, run_child({.argv = std::move(argv), .environment = std::move(environment), .own_session = true},
                                {.limit = limit, .most_bytes = kMostAnswerBytes, .ends_flood = true}, input));
  return CommandOutput{result.end == ChildResult::End::by_itself, exit_status_of(result.status),
                       result.output + result.errors};
}

}  // namespace slipway::deviceplugin
