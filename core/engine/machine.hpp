// SPDX-License-Identifier: Apache-2.0
// core/engine/machine.hpp - the machine or root that one command works on: reads its state, writes to it, and keeps its
// records.
#pragma once

#include <chrono>
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
  std::string spec;                       ///< -f, for the commands that remedies name
  std::string hardware;                   ///< `hardware` of the spec; empty: depends on whether the root is live
  std::string cache;  ///< downloads, build results; empty: /var/cache/slipway, the user's cache folder, or for an image
                      ///< that is "/" a folder that is removed at the end
  std::string time;   ///< RFC 3339 in UTC, recorded with a generation; empty: no time is recorded
  bool booting = false;                   ///< true when slipway-boot.service applies
  std::chrono::seconds package_limit{0};  ///< for all packages of a boot: reading, fetching, compiling; 0: none
  std::optional<KernelChange> kernel_change = {};  ///< for `slipway kernel`
  bool without_slipway = false;                    ///< --without-slipway was given, and advised commands repeat it
  bool own_environment = false;                    ///< ignores SLIPWAY_ variables that choose plugins or libraries
};

class Machine {
 public:
  const SessionOptions& options() const { return options_; }
  const HostConfig& host_config() const { return host_config_; }
  const Host& host() const { return *host_; }
  RootFs& root() { return *root_; }
  StateDir& state() { return *state_; }
  SimulatedMachine* simulated() const { return simulated_.get(); }  ///< null without --sim
  /// Returns the variables for workers beyond this process's environment: where a simulated machine's devices are.
  std::vector<std::string> worker_environment() const {
    return simulated_ ? simulated_->environment() : std::vector<std::string>{};
  }

  /// Sets the spec's `hardware` word. Where the spec has none, the command line's root decides.
  void set_hardware(const std::string& word);
  /// Sets the spec that advised commands name, where no -f names one.
  void set_advised_spec(const std::string& file) { options_.spec = file; }
  /// Sets the kernels of a generation that is applied again, unless the command line names kernels.
  Status set_kernels(const std::vector<std::string>& releases);
  /// Sets the kernel that has come or gone, for plans about it alone.
  Status set_kernel_change(const KernelChange& change);
  /// True when the spec says `hardware: assume` explicitly.
  bool assumes_hardware() const { return assumes_hardware_; }

 protected:
  explicit Machine(SessionOptions options) : options_(std::move(options)) {}
  /// @param ui  receives the messages of a simulated machine; borrowed
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

/// SOURCE_DATE_EPOCH (reproducible-builds.org specification): seconds; empty when unset. Errors: `invalid` when it is
/// not a number.
Result<std::optional<std::int64_t>> source_date_epoch();

/// Returns the value of an environment variable; empty when it is not set.
std::string environment(const char* name);

}  // namespace slipway::core
