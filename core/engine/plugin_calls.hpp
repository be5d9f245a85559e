// SPDX-License-Identifier: Apache-2.0
// core/engine/plugin_calls.hpp - the installed plugins, and the workers that run them.
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
/// The limit for a download while the apply holds its lock: an hour for a registry
/// (artifact/registry/http/http.hpp), plus time for everything else.
inline constexpr std::chrono::minutes kFetchLimit{75};

/// A page of memory, initially zero, that all workers of one command share, so that a result found by one worker serves
/// the others. Not part of the SDK; only slipway's own plugins use it.
class RunPage {
 public:
  /// When there is no memory for a page, each worker finds its results itself.
  RunPage();
  /// "SLIPWAY_RUN_PAGE=FILE" for a worker's environment; FILE is empty when there is no page.
  std::string environment() const;

 private:
  Fd memory_;
};

class PluginCalls {
 public:
  const Plugins& plugins() const { return plugins_; }
  const std::string& cache() const { return cache_; }

  /// Runs one operation of a component's plugin, in that component's worker (started at its first call).
  Result<Json> call(const std::string& component, const std::string& op, Json request, std::chrono::milliseconds limit);
  /// Runs one operation of the artifact worker.
  Result<Json> artifact(const std::string& component, const std::string& op, const Json& request);

  /// Returns the limit, or the rest of the time that a boot has for all packages if that is shorter.
  std::chrono::milliseconds package_time(std::chrono::milliseconds limit) const;
  /// The error when a boot's time for all packages is over, for a source that may answer later. @param unfinished
  /// "reading oci://…"
  Error out_of_package_time(const std::string& unfinished) const;

  /// Receives the output of tools; empty: tools may not write to standard output.
  std::function<void(const std::string& text)> tool_output;
  /// Answers a tool's request "source.read" (slipway/commands.hpp); empty: it is answered `unsupported`.
  std::function<Result<Json>(const std::string& component, const Json& request)> read_source;
  bool passes_input_on = false;      ///< workers started from now on inherit this process's standard input
  base::ExclusiveUse exclusive_use;  ///< the devices that the custom actions of one component hold exclusively

 protected:
  /// Borrows both.
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
  std::optional<base::ScratchFolder> passing_cache_;  ///< the cache when it is removed at the end
  RunPage page_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex workers_mutex_;
  std::map<std::string, std::unique_ptr<Worker>> workers_;
};

/// Returns the path of an artifact plugin or helper program: in ../libexec/slipway of the program, or in the build's
/// bin.
std::string helper_path(const std::string& name);

}  // namespace slipway::core
