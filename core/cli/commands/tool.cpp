// SPDX-License-Identifier: Apache-2.0
#include "core/cli/command.hpp"

namespace slipway::core {

Result<int> run_tool(const std::string& component, const std::vector<std::string>& words) {
  std::vector<std::string> rest = words;
  const auto verbose = std::erase_if(rest, [](const std::string& word) { return word == "-v"; });
  TerminalUi ui(static_cast<int>(verbose), false);
  SLIPWAY_TRY(session, Session::open({}, ui));
  const Manifest* manifest = session->plugins().manifest(component);
  if (!manifest->has_tools)
    return Error{ErrorCode::invalid,
                 component + " has no tools",
                 "command line",
                 "`slipway --help` shows the commands, `slipway explain " + component + "` its spec",
                 {}};
  session->tool_output = print;
  const std::string tool = rest.empty() ? "--help" : rest.front();
  if (!rest.empty()) rest.erase(rest.begin());
  const Json request{
      {"tool", tool}, {"arguments", rest}, {"spec", Json::object()}, {"host", to_json(session->host_config())}};
  SLIPWAY_TRY(reply, session->call(component, "tool", request, kTransferLimit));
  return reply.value("exit", kExitError);
}

}  // namespace slipway::core
