// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/engine_checks.hpp - lets an engine check its configuration before it is restarted, and checks
// that it works afterwards. After a failure of either, the core restores the former files.
#pragma once

#include <string>

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

/// The first line of files that are entirely slipway's.
inline constexpr const char* kOwnHead = "# Written by slipway (component runtime); change the spec, not this file.\n";

/// Checks around a change of one engine's configuration. Only a running machine has an engine to ask.
class EngineChecks {
 public:
  /// @param facts  the engine's: "program", "config", "arguments", "socket", "unit", "cri_works"
  EngineChecks(std::string title, const Json& facts, const RuntimeSettings& settings, bool live)
      : title_(std::move(title)), facts_(facts), settings_(settings), live_(live) {}

  /// Added before the change, so that it runs before the restart.
  /// @param tool  "containerd", "crio" or "docker"
  /// @param more  for containerd: "path" the changed file, "plugin" the keys of its CRI plugin, "names" of slipway's
  ///   handlers
  void add_config_check(const std::string& tool, Plan& plan, const Json& more = Json::object()) const;
  /// Requests the one restart for a change, with its reason. Without systemd, or for an engine outside of any unit, the
  /// user must restart it, as with `restart: false`.
  void restart_after(Action& change, const std::string& reason) const;
  /// Added after the change, so that it runs after the engine's restart; a note if it is not restarted.
  void add_answer_check(Plan& plan) const;

 private:
  /// Says why the engine is not restarted; empty: it is.
  std::string why_not_restarted() const;

  std::string title_;
  const Json& facts_;
  const RuntimeSettings& settings_;
  bool live_;
};

/// For the component's custom actions: true when the check passes. Errors: those of running the tool.
Result<bool> check_engine(const Action& action, const Host& host);
/// Waits for the check to pass, or says why it does not. Errors: `invalid` the engine rejects its configuration;
/// `timed_out` it does not answer; `io` its CRI plugin does not load.
Result<Outcome> expect_engine(const Action& action, const Host& host);

/// True when containerd answers and `ctr plugins ls` shows its CRI plugin as loaded. False on a host that is not live.
bool cri_works(const Host& host, const std::string& program, const std::string& socket);

}  // namespace slipway::toolkit
