// SPDX-License-Identifier: Apache-2.0
// core/front/main.cpp - slipway: starts a plugin's tool straight away where that is all there is to do, else the
// program that knows all commands.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "core/front/direct_tool.hpp"
#include "core/front/exit_code.hpp"
#include "core/loader/plugin_folders.hpp"
#include "core/loader/plugin_note.hpp"
#include "core/loader/safe_path.hpp"
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

/// The path of the plugin, when it may be loaded and its component's tools stand alone. Whatever is wrong is left to
/// the program for all commands, which says it in full.
std::optional<std::string> direct_plugin(const std::string& folder, const ToolWords& words) {
  const auto path = safe_path(folder + "/" + words.plugin + ".so");
  if (!path) return std::nullopt;
  const Fd file(::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return std::nullopt;
  const auto note = read_plugin_note(file.get(), *path);
  if (!note || !check_protocol(*note, *path) || !has_direct_tools(note->manifest, words.component)) return std::nullopt;
  return *path;
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
