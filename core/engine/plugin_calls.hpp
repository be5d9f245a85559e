// SPDX-License-Identifier: Apache-2.0
// core/engine/plugin_calls.hpp - the plugins that there are, and the workers that run them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <slipway/fd.hpp>

#include "base/write/exclusive_use.hpp"
#include "base/write/scratch_folder.hpp"
#include "core/engine/machine.hpp"
#include "core/loader/plugin_file.hpp"
#include "core/worker/client/worker.hpp"

namespace slipway::core {

/// Deadlines of worker calls.
inline constexpr std::chrono::seconds kDetectLimit{60};
inline constexpr std::chrono::seconds kPlanLimit{30};
inline constexpr std::chrono::seconds kVerifyLimit{120};
inline constexpr std::chrono::minutes kActionLimit{30};
inline constexpr std::chrono::hours kTransferLimit{6};
/// What an apply waits for while it holds its lock: an hour for a registry (artifact/registry/http.hpp), and the rest.
inline constexpr std::chrono::minutes kFetchLimit{75};

/// A page of memory, zeroes to begin with, that all workers of one command share: what one has found out need not be
/// found out by the others. Not part of the SDK; slipway's own plugins use it alone.
class RunPage {
 public:
  /// Without the memory for it there is none, and each worker finds out by itself.
  RunPage();
  /// "SLIPWAY_RUN_PAGE=FILE" for a worker's environment; an empty FILE: there is none.
  std::string environment() const;

 private:
  Fd memory_;
};

class PluginCalls {
 public:
  const Plugins& plugins() const { return plugins_; }
  const std::string& cache() const { return cache_; }

  /// One operation of a component's plugin, in that component's worker (started when first asked).
  Result<Json> call(const std::string& component, const std::string& op, Json request, std::chrono::milliseconds limit);
  /// One operation of the artifact worker.
  Result<Json> artifact(const std::string& component, const std::string& op, const Json& request);

  /// Tools write here; empty: standard output is not theirs.
  std::function<void(const std::string& text)> tool_output;
  bool hands_input_on = false;  ///< workers that are started from now on read what this process is given
  ExclusiveUse exclusive_use;   ///< what the custom actions of one component hold

 protected:
  /// Both are borrowed.
  PluginCalls(Machine& machine, Ui& ui) : machine_(machine), ui_(ui) {}
  ~PluginCalls() = default;
  /// Discovers plugins and finds the cache; starts no worker yet.
  Status open();

 private:
  Result<Worker*> worker(const std::string& component, const std::string& plugin_path);
  WorkerEvents events(const std::string& component, const std::string& op);
  Result<Json> core_call(const std::string& component, const std::string& op, const Json& request);

  Machine& machine_;
  Ui& ui_;
  Plugins plugins_;
  std::string cache_;
  std::optional<ScratchFolder> passing_cache_;  ///< the same when it is removed at the end
  RunPage page_;
  std::mutex workers_mutex_;
  std::map<std::string, std::unique_ptr<Worker>> workers_;
};

/// The folder that holds artifact plugins and helper programs: ../libexec/slipway of the program, or the build's bin.
std::string helper_path(const std::string& name);

}  // namespace slipway::core
