// SPDX-License-Identifier: Apache-2.0
// core/worker/client/worker.hpp - a plugin in its own process: newly started, with a deadline, and unable to harm
// slipway by a crash.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

/// Events from a working worker. Called from the thread that waits in Worker::call().
struct WorkerEvents {
  std::function<void(const std::string& level, const std::string& text)> log;  ///< also its stdout and stderr, by line
  std::function<void(const std::string& label, std::uint64_t done, std::uint64_t total)> progress;
  std::function<void(const std::string& text)> output;  ///< a tool's text for standard output
  /// Handles a request to the core ("pkg.build", "build.run"); empty: answered `unsupported`.
  std::function<Result<Json>(const std::string& op, const Json& request)> core;
  /// When it becomes true, the worker is ended and the call returns `cancelled`; borrowed; may be null.
  const std::atomic<bool>* cancel = nullptr;

  // Only for the call "service":
  int watched = -1;  ///< a descriptor to wait for besides the worker, borrowed (an epoll's, for several)
  std::function<void()> on_watched;  ///< called when it is readable; may use tell() and end_within()
  std::function<void(std::uint64_t id, const Result<Json>& answer)> told;  ///< the answer to a tell()
  std::function<void()> works;                                             ///< the service is working now
  std::function<void(const std::string& text)> status;                     ///< a status line
  std::function<void(const std::vector<std::string>& lines)> reasons;      ///< all present problems
  std::function<void()> alive;                                             ///< the service's loop is running
};

inline constexpr std::uint64_t kWorkerMemoryBytes = 1ULL << 30;

struct WorkerOptions {
  std::string plugin_path;
  bool is_program = false;                                ///< the file itself is started, not slipway-worker with it
  std::string name;                                       ///< for messages: the component, or "artifact"
  std::uint64_t memory_limit_bytes = kWorkerMemoryBytes;  ///< of the worker and all its descendants; 0: no limit
  bool files_in_memory_count = true;                      ///< base/confine/process_limits.hpp
  bool trust_environment = true;                          ///< pass SLIPWAY_ variables on
  std::vector<std::string> environment;  ///< further variables, "NAME=VALUE"; they replace those of this process
  bool reads_input = false;              ///< it inherits the standard input of this process, instead of /dev/null
  std::vector<int> sockets = {};         ///< inherited by the worker (slipway/process/sockets.hpp), borrowed
};

/// One worker process. Destroying this object kills the process and all its descendants. Used by one thread at a time,
/// not always the same one; several workers may be used in parallel.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Runs one operation (sdk/slipway/abi.h) and waits. The first call includes loading the plugin, as its phase "load".
  /// The time that `events.core` takes does not count against `limit`.
  /// Errors: the plugin's own; `plugin_defect` with signal, phase and the last lines it printed when it crashed, broke
  /// the protocol or printed too much; `timed_out` when `limit` passed (the worker was killed; "stuck in the kernel"
  /// when even that did not end it); `unsupported` for an unknown operation. After `timed_out`, and after a
  /// `plugin_defect` of a worker that has ended, no further call is possible.
  virtual Result<Json> call(const std::string& op, const Json& request, std::chrono::milliseconds limit,
                            const WorkerEvents& events) = 0;

  // While call("service") is running, from that call's events:

  /// Requests "service.quiesce", "service.resume" or "service.stop". @return the id that comes with the answer
  virtual Result<std::uint64_t> tell(const std::string& op, const Json& request) = 0;
  /// Makes the call end within that time, or with `timed_out`.
  virtual void end_within(std::chrono::milliseconds limit) = 0;
  /// Makes the call return `cancelled`. The service keeps running, without being heard, until this object is destroyed.
  virtual void leave() = 0;
};

/// Starts `slipway-worker` (found beside the running program, or in ../libexec/slipway) with the plugin. This process
/// becomes the subreaper of all its descendants (PR_SET_CHILD_SUBREAPER).
/// Errors: `not_found` slipway-worker is not installed; `denied` as root, other users could have changed it; system
/// errors.
Result<std::unique_ptr<Worker>> start_worker(const WorkerOptions& options);

}  // namespace slipway::core
