// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <slipway/abi.h>

#include <slipway/local_host.hpp>

#include "base/command_line/read_words.hpp"
#include "base/command_line/tools.hpp"
#include "base/log/lines.hpp"
#include "base/write/standard_output.hpp"
#include "core/exit_code.hpp"
#include "core/worker/serve/plugin_library.hpp"
#include "core/worker/serve/serve.hpp"

namespace slipway::core {
namespace {

int answer(const slipway_reply& reply, int status, const Json& value) {
  const std::string text = canonical(value);
  reply.write(reply.context, text.data(), text.size());
  return status;
}

/// Implements the `slipway_services` that a plugin gets in tool mode.
int serve(void*, const char* op, const char* json, std::size_t length, const slipway_reply* reply) {
  const std::string name = op;
  const Json message = Json::parse(json, json + length, nullptr, false);
  if (name == "core")
    return answer(
        *reply, SLIPWAY_UNSUPPORTED,
        to_json(Error{.code = ErrorCode::plugin_defect,
                      .what = "the tool asked slipway for something, which a tool with `direct_tools` cannot do",
                      .next = "remove `direct_tools` from the component's manifest"}));
  const std::string text = message.is_object() ? message.value("text", "") : std::string();
  if (name == "output") base::write_standard_output(text);
  if (name == "log" && message.value("level", "") == "warning")
    std::fprintf(stderr, "warning: %s\n", base::printable(text, true).c_str());
  return answer(*reply, SLIPWAY_OK, nullptr);
}

/// Prints the error for a user, or for a program that asked for JSON.
int report(const Json& error, const std::vector<std::string>& words) {
  const Error told = error_from_json(error);
  std::fputs(base::printable(to_text(told), true).c_str(), stderr);
  if (asks_for_json(words)) {
    Json document = to_json(told);
    document.update({{"apiVersion", "slipway.dev/v1"}, {"kind", "Error"}});
    base::write_standard_output(pretty(document));
  }
  return exit_code(told);
}

Result<Json> ask(PluginLibrary& plugin, const char* op, const Json& request) {
  PluginAnswer ended = plugin.call(op, request);
  if (ended.status != SLIPWAY_OK) return error_from_json(ended.value);
  return std::move(ended.value);
}

/// @param words  as for run_tool_alone()
Result<int> run(PluginLibrary& plugin, const std::vector<std::string>& words) {
  const std::string& component = words[1];
  SLIPWAY_TRY(reply, ask(plugin, "tools", {{"component", component}}));
  SLIPWAY_TRY(tools, command_line::tools_from_json(component, reply));
  SLIPWAY_TRY(tool, command_line::find_tool(component, tools, words[2]));
  // Where the words have one of slipway's other options, slipway runs the tool itself (cli/front/direct_tool.hpp).
  SLIPWAY_TRY(line, command_line::with_options(tool, {{.name = "help", .letter = 'h'}}));
  SLIPWAY_TRY(read, command_line::read_words(line, {words.begin() + 3, words.end()}));
  if (read.help) {
    base::write_standard_output(base::printable(command_line::tool_text(tool), true));
    return kExitDone;
  }
  read.values.erase("help");
  Json request = command_line::tool_request(tool.name, read);
  request.update({{"component", component}, {"spec", Json::object()}, {"host", to_json(host_of_tools())}});
  SLIPWAY_TRY(ended, ask(plugin, "tool", request));
  return ended.is_object() ? ended.value("exit", int{kExitError}) : int{kExitError};
}

}  // namespace

int run_tool_alone(const std::vector<std::string>& words) {
  if (words.size() < 3) return kExitUsage;
  static const slipway_services services{sizeof(slipway_services), nullptr, serve};
  auto loaded = PluginLibrary::load(words[0], &services);
  if (!loaded) return report(to_json(loaded.error()), words);
  PluginLibrary* const plugin = loaded->release();  // never unloaded: its threads may still run
  const auto ended = run(*plugin, words);
  if (!ended) return report(to_json(ended.error()), words);
  if (const Status written = base::standard_output_status(); !written) return report(to_json(written.error()), {});
  return *ended;
}

}  // namespace slipway::core
