// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/engine_checks.hpp - asks an engine what it thinks of its configuration before it is
// restarted, and whether it works afterwards. Either refusal makes the core bring the former files back.
#pragma once

#include <string>

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

/// The first line of files that are all ours.
inline constexpr const char* kOwnHead = "# Written by slipway (component runtime); change the spec, not this file.\n";

/// The checks that go with the change of one engine's configuration. Only a running machine has an engine to ask.
class EngineChecks {
 public:
  /// @param facts  the engine's: "program", "config", "arguments", "socket", "unit", "cri_works"
  EngineChecks(std::string title, const Json& facts, const RuntimeSettings& settings, bool live)
      : title_(std::move(title)), facts_(facts), settings_(settings), live_(live) {}

  /// Before the change, since it is done before the restart that the change asks for.
  /// @param tool  "containerd", "crio" or "docker"
  /// @param more  for containerd: "path" the changed file, "plugin" the keys of its CRI plugin, "names" of our handlers
  void add_config_check(const std::string& tool, Plan& plan, const Json& more = Json::object()) const;
  /// The one restart that a change asks for, and what it is for. Without systemd, or for an engine that runs outside
  /// of any unit, it is left to the user, as with `restart: false`.
  void restart_after(Action& change, const std::string& reason) const;
  /// After the change, so that it is done when the engine was restarted; a note where it is not restarted.
  void add_answer_check(Plan& plan) const;

 private:
  /// Why the engine is not restarted; empty: it is.
  std::string why_not_restarted() const;

  std::string title_;
  const Json& facts_;
  const RuntimeSettings& settings_;
  bool live_;
};

/// Custom actions of the component: does it hold? Errors: those of running the tool.
Result<bool> check_engine(const Action& action, const Host& host);
/// Waits for it to hold, or says why it does not. Errors: `invalid` the engine refuses its configuration; `timed_out`
/// it does not answer; `io` its CRI plugin does not load.
Result<Outcome> expect_engine(const Action& action, const Host& host);

/// containerd answers and its CRI plugin is loaded, as `ctr plugins ls` says. False on a host that is not live.
bool cri_works(const Host& host, const std::string& program, const std::string& socket);

}  // namespace slipway::toolkit
