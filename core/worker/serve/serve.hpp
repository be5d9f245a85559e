// SPDX-License-Identifier: Apache-2.0
// core/worker/serve/serve.hpp - what a worker does: answers slipway's calls with one plugin, or runs one tool alone;
// and how it can be told from others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/worker/serve/plugin_library.hpp"

namespace slipway::core {

using LoadPlugin = std::function<Result<std::unique_ptr<PluginLibrary>>(const slipway_services* services)>;

/// The main function of a program that slipway starts with the words PLUGIN PARENT-PID and descriptor 3
/// open. Settles in the process, loads the plugin, and serves until slipway is gone.
/// @return 64, when it was not started so
int serve_as_worker(int count, char** arguments, const LoadPlugin& load);

/// Whether a tool's words say `-o json`; its --output is a file.
inline bool asks_for_json(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i - 1] == "-o" && words[i] == "json") return true;
  return false;
}

/// What the tool prints goes to standard output, what it logs is left out as slipway does without -v, progress is shown
/// to nobody. Its error is a document as well where JSON is asked for. @param words the plugin's path, the component,
/// the tool and its arguments  @return the exit status
int run_tool_alone(const std::vector<std::string>& words);

/// Each worker's own name, in the environment of all that it starts.
constexpr const char* kWorkerVariable = "SLIPWAY_WORKER_ID";

/// In a worker's environment: how many control groups it has to go into before it loads the plugin. Their cgroup.procs
/// are open behind its sockets (slipway/process/sockets.hpp).
constexpr const char* kWorkerGroups = "SLIPWAY_WORKER_GROUPS";

/// oom_score_adj(5) of every worker: when memory is short, a plugin goes before slipway. All descendants inherit it,
/// even those that wipe their environment, and it can still be read of the dead. Nobody picks this number by chance.
constexpr int kWorkerOomScore = 313;

}  // namespace slipway::core
