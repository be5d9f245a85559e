// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <slipway/abi.h>

#include <slipway/local_host.hpp>

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
                      .next = "take `direct_tools` out of the component's manifest"}));
  const std::string text = message.is_object() ? message.value("text", "") : std::string();
  if (name == "output") write_standard_output(text);
  if (name == "log" && message.value("level", "") == "warning")
    std::fprintf(stderr, "warning: %s\n", printable(text, true).c_str());
  return answer(*reply, SLIPWAY_OK, nullptr);
}

/// Prints the error for a user, or for a program that asked for JSON.
int report(const Json& error, const std::vector<std::string>& words) {
  const Error told = error_from_json(error);
  std::fputs(printable(to_text(told), true).c_str(), stderr);
  if (asks_for_json(words)) {
    Json document = to_json(told);
    document.update({{"apiVersion", "slipway.dev/v1"}, {"kind", "Error"}});
    write_standard_output(pretty(document));
  }
  return exit_code(told);
}

}  // namespace

int run_tool_alone(const std::vector<std::string>& words) {
  if (words.size() < 3) return kExitUsage;
  static const slipway_services services{sizeof(slipway_services), nullptr, serve};
  auto loaded = PluginLibrary::load(words[0], &services);
  if (!loaded) return report(to_json(loaded.error()), words);
  PluginLibrary* const plugin = loaded->release();  // never unloaded: its threads may still run
  const std::vector<std::string> arguments(words.begin() + 3, words.end());
  const PluginAnswer ended = plugin->call("tool", {{"component", words[1]},
                                                   {"tool", words[2]},
                                                   {"arguments", arguments},
                                                   {"spec", Json::object()},
                                                   {"host", to_json(host_of_tools())}});
  if (ended.status != SLIPWAY_OK) return report(ended.value, words);
  if (const Status written = standard_output_status(); !written) return report(to_json(written.error()), {});
  return ended.value.value("exit", int{kExitError});
}

}  // namespace slipway::core
