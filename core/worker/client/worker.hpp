// SPDX-License-Identifier: Apache-2.0
// core/worker/client/worker.hpp - a plugin in a process of its own: started afresh, with a deadline, and survived
// whatever it does.
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

/// What a worker says while it works. Called from the thread that waits in Worker::call().
struct WorkerEvents {
  std::function<void(const std::string& level, const std::string& text)> log;  ///< also its stdout and stderr, by line
  std::function<void(const std::string& label, std::uint64_t done, std::uint64_t total)> progress;
  std::function<void(const std::string& text)> output;  ///< a tool's text for standard output
  /// A request to the core ("pkg.build", "build.run"); empty: answered `unsupported`.
  std::function<Result<Json>(const std::string& op, const Json& request)> core;
  /// Once it is true, the worker is ended and the call returns with `cancelled`; borrowed, null: nothing does that.
  const std::atomic<bool>* cancel = nullptr;

  // Of the call "service" only.
  int watched = -1;  ///< a descriptor to wait for besides the worker, borrowed (an epoll's, for several)
  std::function<void()> on_watched;  ///< it can be read; may use tell() and end_within()
  std::function<void(std::uint64_t id, const Result<Json>& answer)> told;  ///< the answer to a tell()
  std::function<void()> works;                                             ///< the service does its work now
  std::function<void(const std::string& text)> status;                     ///< how things are
  std::function<void(const std::vector<std::string>& lines)> reasons;      ///< all that is not as it should be
  std::function<void()> alive;                                             ///< its loop turns
};

inline constexpr std::uint64_t kWorkerMemoryBytes = 1ULL << 30;

struct WorkerOptions {
  std::string plugin_path;
  bool is_program = false;                                ///< it is started itself, not slipway-worker with it
  std::string name;                                       ///< for messages: the component, or "artifact"
  std::uint64_t memory_limit_bytes = kWorkerMemoryBytes;  ///< of it and all that it starts; 0: no limit
  bool files_in_memory_count = true;                      ///< base/confine/process_limits.hpp
  bool trust_environment = true;                          ///< pass SLIPWAY_ variables on
  std::vector<std::string> environment;  ///< further entries, "NAME=VALUE", before those of this process
  bool reads_input = false;              ///< it has the standard input of this process, not /dev/null
  std::vector<int> sockets = {};         ///< that it inherits (slipway/process/sockets.hpp), borrowed
};

/// One worker process. Its life ends with this object: it and all its descendants are killed. Used by one thread at a
/// time, not always the same; several workers may be used side by side.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Asks for one operation (sdk/slipway/abi.h) and waits. Loading the plugin is part of the first call, as its phase
  /// "load". The time that `events.core` takes does not count against `limit`.
  /// Errors: the plugin's own; `plugin_defect` with signal, phase and the last lines it printed when it crashed, broke
  /// the protocol or flooded; `timed_out` when `limit` passed (it was killed; "stuck in the kernel" when even that did
  /// not end it); `unsupported` an operation that it does not know. After `timed_out`, and after a `plugin_defect` of a
  /// worker that is gone, nothing more can be asked of it.
  virtual Result<Json> call(const std::string& op, const Json& request, std::chrono::milliseconds limit,
                            const WorkerEvents& events) = 0;

  // While call("service") is under way, from that call's events.

  /// Asks for "service.quiesce", "service.resume" or "service.stop". @return the id that comes with the answer
  virtual Result<std::uint64_t> tell(const std::string& op, const Json& request) = 0;
  /// The call ends in that time, or with `timed_out`.
  virtual void end_within(std::chrono::milliseconds limit) = 0;
  /// The call returns with `cancelled`, and the service goes on, unheard, until this object ends.
  virtual void leave() = 0;
};

/// Starts `slipway-worker` (found beside the running program, or in ../libexec/slipway) with the plugin. This process
/// becomes the subreaper of what it starts (PR_SET_CHILD_SUBREAPER).
/// Errors: `not_found` slipway-worker is not installed; `denied` as root, others could have changed it; system errors.
Result<std::unique_ptr<Worker>> start_worker(const WorkerOptions& options);

}  // namespace slipway::core
