// SPDX-License-Identifier: Apache-2.0
// core/engine/machine.hpp - the machine or root that one command works on: what is seen of it, what is written there,
// and what is recorded of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/local_host.hpp>

#include "core/engine/simulated_machine.hpp"
#include "core/engine/ui.hpp"
#include "core/host/root_fs.hpp"
#include "core/journal/state_dir.hpp"

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
  std::string time;                       ///< RFC 3339 in UTC: is noted with a generation; empty: none is
  bool booting = false;                   ///< slipway-boot.service applies
  bool without_slipway = false;           ///< --without-slipway was given, which commands that are advised repeat
  bool own_environment = false;  ///< SLIPWAY_ variables choose no plugins or libraries: see environment_counts()
};

class Machine {
 public:
  const SessionOptions& options() const { return options_; }
  const HostConfig& host_config() const { return host_config_; }
  const Host& host() const { return *host_; }
  RootFs& root() { return *root_; }
  StateDir& state() { return *state_; }
  SimulatedMachine* simulated() const { return simulated_.get(); }  ///< null without --sim
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

 protected:
  explicit Machine(SessionOptions options) : options_(std::move(options)) {}
  /// @param ui  for what a simulated machine has to say; borrowed
  Status open(Ui& ui);

 private:
  Status open_host_of_root();
  void name_kernels();

  SessionOptions options_;
  HostConfig host_config_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<RootFs> root_;
  std::unique_ptr<StateDir> state_;
  std::unique_ptr<SimulatedMachine> simulated_;
  bool assumes_hardware_ = false;
};

/// SOURCE_DATE_EPOCH (reproducible-builds.org specification): seconds; empty when unset. Errors: `invalid` no number.
Result<std::optional<std::int64_t>> source_date_epoch();

/// The value of an environment variable; empty where it is not set.
std::string environment(const char* name);

}  // namespace slipway::core
