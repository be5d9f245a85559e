// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/commands.hpp>
#include <slipway/text.hpp>

namespace slipway {

const std::vector<CommandOption>& options_before_tools() {
  static const std::vector<CommandOption> all{
      {.name = "sim",
       .value = "PROFILE",
       .help = "a simulated GPU host, for example h100x8; --root DIR is then its root"},
      {.name = "log-format", .value = "text|json", .help = "form of the log on standard error"},
      {.name = "verbose", .help = "say more, and log down to debug", .letter = 'v'},
      {.name = "help", .help = "this text", .letter = 'h'}};
  return all;
}

namespace {

/// A tool without a function is a separate program, which slipway only starts.
std::vector<CommandOption> all_options_of(const Tool& tool) {
  std::vector<CommandOption> options = tool.line.options;
  if (tool.run) options.insert(options.end(), options_before_tools().begin(), options_before_tools().end());
  return options;
}

std::string help_of(const Tool& tool) {
  CommandTable line = tool.line;
  line.options = all_options_of(tool);
  return help_text(line);
}

}  // namespace

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
  for (const Tool& tool : tools_) infos.push_back({tool.name, tool.purpose, help_of(tool), all_options_of(tool)});
  return infos;
}

Result<int> ToolTable::run(std::string_view tool, const std::vector<std::string>& arguments, const Host& host,
                           ToolIo& io) const {
  const auto found = std::ranges::find(tools_, tool, &Tool::name);
  std::vector<std::string> names;
  for (const Tool& each : tools_) names.push_back(each.name);
  if (found == tools_.end())
    return Error{.code = ErrorCode::usage,
                 .what = "there is no tool '" + std::string(tool) + "'",
                 .where = "command line",
                 .next = suggestion(tool, names, "its tools are " + joined(names))};
  SLIPWAY_TRY(words, read_words(found->line, arguments));
  if (!words.help) return found->run(words, host, io);
  io.print(help_of(*found));
  return 0;
}

}  // namespace slipway
