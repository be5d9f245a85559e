// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/command_line.cpp - the table of a tool from a plugin, and the words of a user.
//
// Input: the plugin's reply to "tools" on the first line; then a word a line. The first tool is called.
#include <algorithm>
#include <cstdint>
#include <optional>

#include <slipway/text.hpp>

#include "base/command_line/read_words.hpp"
#include "base/command_line/tools.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;

/// Every option has a value, and every value is of an option.
void check(const CommandTable& line, const CommandWords& words) {
  for (const auto& [name, values] : words.values) {
    const auto option = std::ranges::find(line.options, name, &CommandOption::name);
    fuzz::demand(option != line.options.end(), "what is given is an option");
    fuzz::demand(!values.empty() && (values.size() == 1 || option->repeats || line.last_counts), "given once");
    const auto choices = choices_of(*option);
    for (const std::string& value : values) {
      fuzz::demand(choices.empty() || std::ranges::count(choices, value) != 0, "a choice is one of the choices");
      fuzz::demand(!option->value.empty() || value == "true" || value == "false", "a flag is true or false");
    }
  }
  if (words.help) return;
  fuzz::demand(words.arguments.size() >= line.least_arguments && words.arguments.size() <= line.most_arguments,
               "there are as many words as the table says");
  for (const CommandOption& option : line.options)
    fuzz::demand(!option.required || words.given(option.name), "what is required is given");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(bytes.find('\n'), size);
  std::vector<std::string> words;
  if (end < size) words = split(bytes.substr(end + 1), '\n');
  const auto tools = command_line::tools_from_json("acme", parse_foreign(bytes.substr(0, end)));
  fuzz::demand_presentable(tools);
  (void)command_line::find_options(command_line::options_for_tools(), words);
  if (!tools || tools->empty()) return 0;
  (void)command_line::tools_text("acme", *tools);
  const ToolInfo& tool = tools->front();
  (void)command_line::tool_text(tool);
  fuzz::demand_presentable(command_line::with_options(tool, command_line::options_for_tools()));
  const auto variable = [](const std::string& name) -> std::optional<std::string> { return name; };
  const auto read = command_line::read_words(tool.line, words, variable);
  fuzz::demand_presentable(read);
  fuzz::demand(read.ok() || read.error().code == ErrorCode::usage, "only the words can be wrong");
  if (read) check(tool.line, *read);
  return 0;
}
