// SPDX-License-Identifier: Apache-2.0
// cli/front/main.cpp - slipway: runs a service for its unit, or a plugin's tool when that is enough, else executes the
// program for all commands.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <unistd.h>

#include "base/write/standard_output.hpp"
#include "cli/front/direct_service.hpp"
#include "cli/front/direct_tool.hpp"
#include "cli/front/handover.hpp"
#include "cli/front/reference.hpp"
#include "core/exit_code.hpp"
#include "core/loader/installation.hpp"
#include "core/worker/client/spawn.hpp"

namespace slipway::cli {
namespace {

/// The exit status when a part of slipway is missing or cannot be started, as a shell has it for a missing command: a
/// package manager's hook distinguishes it from a failure that its user has chosen (the driver's key new_kernel).
constexpr int kNotStarted = 127;

/// Starts the tool when the plugin may be loaded and its manifest says how.
void try_tool(const std::optional<SafeNote>& plugin, const ToolWords& words) {
  if (!plugin) return;
  const std::string& manifest = plugin->note.manifest;
  if (const std::string name = tool_program(manifest, words.component, words.rest.front()); !name.empty()) {
    std::vector<std::string> call = words.rest;
    call.front() = name;
    if (const auto program = core::own_program(name)) (void)become(*program, call);
  } else if (has_direct_tools(manifest, words.component)) {
    std::vector<std::string> call{"slipway-worker", "--tool", plugin->path, words.component};
    call.insert(call.end(), words.rest.begin(), words.rest.end());
    if (const auto worker = core::worker_program(true)) (void)become(*worker, call);
  }
}

void run_direct_tool(const std::vector<std::string>& words) {
  const std::vector<ToolWords> ways = tool_words(words);
  if (ways.empty() || std::getenv("SLIPWAY_LOG") != nullptr) return;
  const std::vector<std::string> folders = core::plugin_folders(true);
  if (folders.size() != 1) return;  // the other program finds out which of several folders has the component
  for (const ToolWords& way : ways)
    try_tool(read_safe_note(folders.front() + "/" + way.plugin + ".so", core::ElfKind::library), way);
  // `slipway cdi generate`: the plugin's name differs from its component's.
  try_tool(find_holder(folders.front(), ways.front().component), ways.front());
}

int print_reference(const std::string& text) {
  base::write_standard_output(text);
  const Status written = base::standard_output_status();
  if (written) return core::kExitDone;
  std::fputs(to_text(written.error()).c_str(), stderr);
  return core::kExitError;
}

int run(const std::vector<std::string>& words) {
  if (const auto text = reference_text(words, core::own_prefix())) return print_reference(*text);
  if (const auto service = service_words(words, std::getenv("SLIPWAY_LOG")))
    if (const auto ended = run_direct_service(*service)) return *ended;
  run_direct_tool(words);
  const auto engine = core::own_program("slipway-engine");
  Error error = engine ? Error{} : engine.error();
  if (engine) {
    std::vector<std::string> call{"slipway"};
    call.insert(call.end(), words.begin(), words.end());
    error = become(*engine, call);
  }
  std::fputs(to_text(error).c_str(), stderr);
  return kNotStarted;
}

}  // namespace
}  // namespace slipway::cli

int main(int count, char** values) {
  slipway::base::begin_program();
  return slipway::cli::run({values + (count > 0 ? 1 : 0), values + count});
}
