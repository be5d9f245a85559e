// SPDX-License-Identifier: Apache-2.0
// core/front/main.cpp - slipway: runs a service for its unit, or a plugin's tool where that is all there is to do, else
// the program that knows all commands.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include <unistd.h>

#include "core/front/component_note.hpp"
#include "core/front/direct_service.hpp"
#include "core/front/direct_tool.hpp"
#include "core/front/exit_code.hpp"
#include "core/loader/plugin_folders.hpp"
#include "core/worker/locate.hpp"

namespace slipway::core {
namespace {

/// Replaces this program. @return only when that failed
Error become(const std::string& program, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return system_error("start", program, errno);
}

/// The path of the plugin, when it may be loaded and its component's tools stand alone.
std::optional<std::string> direct_plugin(const std::string& folder, const ToolWords& words) {
  auto plugin = read_safe_note(folder + "/" + words.plugin + ".so", ElfKind::library);
  if (!plugin || !has_direct_tools(plugin->note.manifest, words.component)) return std::nullopt;
  return std::move(plugin->path);
}

void run_direct_tool(const std::vector<std::string>& words) {
  const std::vector<ToolWords> ways = tool_words(words);
  if (ways.empty()) return;
  const std::vector<std::string> folders = plugin_folders(true);
  if (folders.size() != 1) return;  // which of several holds a component is for the other program to find out
  for (const ToolWords& way : ways) {
    const auto plugin = direct_plugin(folders.front(), way);
    const auto worker = plugin ? worker_program(true) : Result<std::string>(std::string());
    if (!plugin || !worker) continue;
    std::vector<std::string> call{"slipway-worker", "--tool", *plugin, way.component};
    call.insert(call.end(), way.rest.begin(), way.rest.end());
    (void)become(*worker, call);
  }
}

int run(const std::vector<std::string>& words) {
  if (const auto service = service_words(words))
    if (const auto ended = run_direct_service(*service)) return *ended;
  run_direct_tool(words);
  const auto engine = own_program("slipway-engine");
  Error error = engine ? Error{} : engine.error();
  if (engine) {
    std::vector<std::string> call{"slipway"};
    call.insert(call.end(), words.begin(), words.end());
    error = become(*engine, call);
  }
  std::fputs(to_text(error).c_str(), stderr);
  return exit_code(error);
}

}  // namespace
}  // namespace slipway::core

int main(int count, char** values) { return slipway::core::run({values + (count > 0 ? 1 : 0), values + count}); }
