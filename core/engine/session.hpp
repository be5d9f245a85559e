// SPDX-License-Identifier: Apache-2.0
// core/engine/session.hpp - what one command works with: plugins, host, state, workers, and who is told about it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/local_host.hpp>
#include <slipway/write/scratch_folder.hpp>

#include "core/engine/plan/answers.hpp"
#include "core/engine/simulated_machine.hpp"
#include "core/engine/ui.hpp"
#include "core/host/root_fs.hpp"
#include "core/journal/state_dir.hpp"
#include "core/loader/plugin_file.hpp"
#include "core/worker/client/worker.hpp"

namespace slipway::core {

/// The options that all commands on a host share.
struct SessionOptions {
  std::string root = "/";
  std::optional<bool> live;  ///< empty: live exactly when root is "/"; false: an image, even if its root is "/"
  std::vector<std::string> kernels = {};  ///< --kernel, each
  std::string sim;                        ///< --sim: profile name or file
  std::string spec;                       ///< -f, for the words of remedies
  std::string hardware;                   ///< of the spec; empty: by liveness
  std::string cache;                      ///< downloads, build results; empty: /var/cache/slipway, the user's cache
                                          ///< folder, or for an image that is "/" a folder that goes at the end
  bool own_environment = false;  ///< SLIPWAY_ variables choose no plugins or libraries: see environment_counts()
};

/// Deadlines of worker calls.
inline constexpr std::chrono::seconds kDetectLimit{60};
inline constexpr std::chrono::seconds kPlanLimit{30};
inline constexpr std::chrono::seconds kVerifyLimit{120};
inline constexpr std::chrono::minutes kActionLimit{30};
inline constexpr std::chrono::hours kTransferLimit{6};
/// What an apply waits for while it holds its lock: an hour for a registry (artifact/registry/http.hpp), and the rest.
inline constexpr std::chrono::minutes kFetchLimit{75};

class Session {
 public:
  /// Opens the root, discovers plugins; starts no worker yet.
  static Result<std::unique_ptr<Session>> open(const SessionOptions& options, Ui& ui);
  ~Session();

  const SessionOptions& options() const { return options_; }
  const Plugins& plugins() const { return plugins_; }
  const HostConfig& host_config() const { return host_config_; }
  const Host& host() const { return *host_; }
  RootFs& root() { return *root_; }
  StateDir& state() { return *state_; }
  Ui& ui() { return ui_; }
  const std::string& cache() const { return cache_; }
  /// What workers get beyond this process's environment: where a simulated machine's devices are found.
  std::vector<std::string> worker_environment() const {
    return simulated_ ? simulated_->environment() : std::vector<std::string>{};
  }

  /// Fixes the spec's `hardware` word, which the command line's root decides where the spec is silent.
  void set_hardware(const std::string& word);
  /// The kernels of a generation that is applied again, where the command line names none.
  Status set_kernels(const std::vector<std::string>& releases);
  /// The spec says `hardware: assume` in so many words.
  bool assumes_hardware() const { return assumes_hardware_; }

  /// One operation of a component's plugin, in that component's worker (started when first asked). A hermetic
  /// component is not asked again what it answered before, while all that it looked at is as it was (Answers).
  Result<Json> call(const std::string& component, const std::string& op, Json request, std::chrono::milliseconds limit);
  /// "sha256:…" of a plugin's file, hashed once for as long as the file stays as it is.
  Result<std::string> plugin_digest(const PluginFile& plugin);
  /// What that component answered before does not count any more.
  void forget_answers(const std::string& component) { answers_->forget(component); }
  /// One operation of the artifact worker.
  Result<Json> artifact(const std::string& component, const std::string& op, const Json& request);

  /// Tools write here; empty: standard output is not theirs.
  std::function<void(const std::string& text)> tool_output;

 private:
  Session(SessionOptions options, Ui& ui) : options_(std::move(options)), ui_(ui) {}
  Status open_host_and_root();
  Status open_host_of_root();
  void name_kernels();
  Result<Json> ask_plugin(const std::string& component, const std::string& path, const std::string& op,
                          const Json& request, std::chrono::milliseconds limit);
  Result<Worker*> worker(const std::string& component, const std::string& plugin_path);
  WorkerEvents events(const std::string& component, const std::string& op);
  Result<Json> core_call(const std::string& component, const std::string& op, const Json& request);

  SessionOptions options_;
  Ui& ui_;
  Plugins plugins_;
  HostConfig host_config_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<RootFs> root_;
  std::unique_ptr<StateDir> state_;
  std::string cache_;
  std::optional<ScratchFolder> passing_cache_;   ///< the same when it is removed at the end
  std::unique_ptr<SimulatedMachine> simulated_;  ///< with --sim
  std::unique_ptr<Answers> answers_;
  bool assumes_hardware_ = false;
  std::mutex workers_mutex_;
  std::map<std::string, std::unique_ptr<Worker>> workers_;
};

/// SOURCE_DATE_EPOCH (reproducible-builds.org specification): seconds; empty when unset. Errors: `invalid` no number.
Result<std::optional<std::int64_t>> source_date_epoch();

/// The folder that holds artifact plugins and helper programs: ../libexec/slipway of the program, or the build's bin.
std::string helper_path(const std::string& name);

}  // namespace slipway::core
