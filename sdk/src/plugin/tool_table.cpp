// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/commands.hpp>

namespace slipway {

ToolTable::ToolTable(const std::string& component, std::vector<Tool> tools) : tools_(std::move(tools)) {
  for (Tool& tool : tools_) {
    CommandTable& line = tool.line;
    if (line.call.empty()) line.call = "slipway " + component + " " + tool.name;
    if (line.usage.empty()) line.usage = "[options]";
    if (line.about.empty()) line.about = tool.purpose;
  }
}

std::vector<ToolInfo> ToolTable::list() const {
  std::vector<ToolInfo> infos;
  for (const Tool& tool : tools_) infos.push_back({tool.name, tool.purpose, help_text(tool.line), tool.line.options});
  return infos;
}

Result<int> ToolTable::run(std::string_view tool, const std::vector<std::string>& arguments, const Host& host,
                           ToolIo& io) const {
  const auto found = std::ranges::find(tools_, tool, &Tool::name);
  if (found == tools_.end())
    return Error{.code = ErrorCode::usage, .what = "there is no tool '" + std::string(tool) + "'"};
  SLIPWAY_TRY(words, read_words(found->line, arguments));
  if (!words.help) return found->run(words, host, io);
  io.print(help_text(found->line));
  return 0;
}

}  // namespace slipway
