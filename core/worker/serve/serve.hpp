// SPDX-License-Identifier: Apache-2.0
// core/worker/serve/serve.hpp - the main functions of a worker: answers slipway's calls with one plugin, or runs one
// tool alone; and the marks that distinguish workers from other processes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/worker/serve/plugin_library.hpp"

namespace slipway::core {

using LoadPlugin = std::function<Result<std::unique_ptr<PluginLibrary>>(const slipway_services* services)>;

/// The main function of a program that slipway starts with the arguments PLUGIN PARENT-PID and descriptor 3 open. Sets
/// the process up, loads the plugin, and serves until slipway has ended.
/// @return 64 when the program was not started like this
int serve_as_worker(int count, char** arguments, const LoadPlugin& load);

/// True when a tool's arguments have `-o json`; its --output is a file.
inline bool asks_for_json(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i - 1] == "-o" && words[i] == "json") return true;
  return false;
}

/// Runs a tool. Its output goes to standard output; its log messages are dropped, as by slipway without -v; its
/// progress is not shown. Its error is a JSON document when JSON is requested. @param words the plugin's path, the
/// component, the tool and its arguments  @return the exit status
int run_tool_alone(const std::vector<std::string>& words);

/// Each worker's own name, in the environment of all its descendants.
constexpr const char* kWorkerVariable = "SLIPWAY_WORKER_ID";

/// In a worker's environment: the number of control groups that it has to enter before it loads the plugin. Their
/// cgroup.procs are open as the descriptors after its sockets (slipway/process/sockets.hpp).
constexpr const char* kWorkerGroups = "SLIPWAY_WORKER_GROUPS";

/// oom_score_adj(5) of every worker: when memory is short, the kernel kills a plugin before slipway. All descendants
/// inherit the number, even those that clear their environment, and it is still readable for a zombie. Other programs
/// are unlikely to use this number.
constexpr int kWorkerOomScore = 313;

}  // namespace slipway::core
